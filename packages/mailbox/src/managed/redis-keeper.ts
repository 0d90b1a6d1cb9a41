import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PlacetError } from '@placet/protocol';
import type { ManagedRedis, ManagedRedisOptions } from '../managed-redis.ts';
import { replaceFile } from '../signing/private-files.ts';
import { commandOf } from './engine-command.ts';
import { type FolderLock, liveClaim, tryLock } from './folder-lock.ts';
import { guardRunning, startGuarded } from './guard.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { RedisFolder, type RunState } from './redis-folder.ts';
import { redisSettings } from './redis-settings.ts';

/** Who looks after the server that we use. */
type Care =
  | { kind: 'own'; state: RunState; lock: FolderLock; guard: ChildProcess }
  | { kind: 'guest'; state: RunState };

const lookEveryMs = 100;
const backoffMs = { first: 100, most: 5000 } as const;
/** How long a server that its dead owner left is given to end by itself, as its guard has it do. */
const orphanMs = 3000;
/** How long a server may take to read its data. */
const loadingMs = 10 * 60 * 1000;
const endMs = 15_000;
const maxLogBytes = 1024 * 1024;

/** Keeps a private Redis running on a folder, by itself or as the guest of a process that does (OP-10). */
export class RedisKeeper implements ManagedRedis {
  readonly #folder: RedisFolder;
  readonly #options: ManagedRedisOptions;
  readonly #closing = new AbortController();
  #password = randomBytes(24).toString('hex');
  #port: number | undefined;
  #pid = 0;
  #care: Care | undefined;
  #watching: Promise<void> | undefined;

  constructor(dir: string, options: ManagedRedisOptions) {
    this.#folder = new RedisFolder(dir);
    this.#options = options;
  }

  get url(): string {
    return `redis://:${this.#password}@127.0.0.1:${this.#port}`;
  }

  get socketUrl(): string {
    const { socket } = this.#folder;
    return socket && this.#options.engine.kind === 'program'
      ? `unix://${encodeURI(socket)}?password=${this.#password}`
      : this.url;
  }

  get pid(): number {
    return this.#pid;
  }

  get adopted(): boolean {
    return this.#care?.kind === 'guest';
  }

  async open(): Promise<void> {
    await this.#settle(this.#options.patienceMs ?? 10_000);
    this.#watching = this.#watch();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
    const care = this.#care;
    this.#care = undefined;
    if (care?.kind === 'own') await this.#end(care);
  }

  /** Adopts the live server, else takes the folder and starts one, else waits for whoever is at it, else refuses. */
  async #settle(patienceMs: number): Promise<void> {
    const giveUpAt = performance.now() + patienceMs;
    for (;;) {
      this.#options.signal?.throwIfAborted();
      const owner = await liveClaim(this.#folder.dir);
      if (owner && (await this.#visit())) return;
      const lock = owner ?? (await tryLock(this.#folder.dir));
      if ('release' in lock) {
        await this.#takeOver(lock);
        return;
      }
      if (performance.now() > giveUpAt)
        throw new PlacetError(
          'data_in_use',
          `process ${lock.pid} uses ${this.#folder.dir}. Stop it, or use another --data`,
        );
      await delay(20 + Math.random() * 80);
    }
  }

  /** Uses the server that another process looks after. */
  async #visit(): Promise<boolean> {
    const state = await this.#liveState();
    if (!state) return false;
    this.#use({ kind: 'guest', state });
    return true;
  }

  async #liveState(): Promise<RunState | undefined> {
    const server = await this.#folder.server();
    const state = server && (await this.#folder.state());
    return state?.pid === server?.pid && state && (await this.#folder.answers(state)) ? state : undefined;
  }

  /** With the folder ours: nobody else starts a server now, but a dead owner's may still run. */
  async #takeOver(lock: FolderLock): Promise<void> {
    try {
      if (await this.#endsWithin(orphanMs)) {
        await this.#start(lock);
        return;
      }
      const state = await this.#liveState();
      if (!state) throw new PlacetError('data_in_use', await this.#strangerDetail());
      this.#options.log.warn({ pid: state.pid }, 'a private Redis was left over; taking care of it');
      this.#use({ kind: 'own', state, lock, guard: guardRunning(state.pid) });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  async #strangerDetail(): Promise<string> {
    const server = await this.#folder.server();
    return `a Redis (process ${server?.pid}) that does not answer us runs on ${this.#folder.dir}. End it, or use another --data`;
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const giveUpAt = performance.now() + ms;
    while (await this.#folder.server()) {
      if (performance.now() > giveUpAt) return false;
      await delay(20);
    }
    return true;
  }

  /** Between finding a port free and listening on it, somebody else may take it: then on another one. */
  async #start(lock: FolderLock): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#launch(lock);
        return;
      } catch (error) {
        if (attempt === 3 || !(error instanceof PlacetError && /bind|in use/i.test(error.message)))
          throw error;
        this.#port = undefined;
      }
    }
  }

  async #launch(lock: FolderLock): Promise<void> {
    const { dir, configFile, logFile, socket } = this.#folder;
    await this.#shortenLog();
    this.#port ??= (await this.#folder.state())?.port;
    if (this.#port === undefined || !(await isFree(this.#port))) this.#port = await freePort();
    const [port, password] = [this.#port, this.#password];
    const docker = this.#options.engine.kind === 'docker';
    const { durability = 'standard' } = this.#options;
    const settings = { dir, port, socket: docker ? undefined : socket, password, logFile, durability };
    await replaceFile(configFile, redisSettings(settings), 0o600);
    const note = this.#folder.noteFile(randomUUID());
    const command = commandOf(this.#options.engine, { dir, configFile, port });
    const guard = startGuarded({ command, note, claim: lock.file });
    try {
      const server = await this.#answering(guard, { v: 1, pid: 1, start: '', ...settings });
      const state: RunState = { v: 1, ...server, port, password, ...(settings.socket && { socket }) };
      await this.#folder.writeState(state);
      this.#use({ kind: 'own', state, lock, guard });
    } catch (error) {
      guard.stdin?.end();
      throw error;
    }
  }

  /** Waits until the server has read its data and answers. */
  async #answering(guard: ChildProcess, draft: RunState): Promise<ProcessIdentity> {
    const giveUpAt = performance.now() + loadingMs;
    while (guard.exitCode === null && guard.signalCode === null && guard.pid !== undefined) {
      this.#options.signal?.throwIfAborted();
      const server = await this.#folder.server();
      if (server && (await this.#folder.answers(draft))) return server;
      if (performance.now() > giveUpAt) break;
      await delay(10);
    }
    const said = await readFile(this.#folder.logFile, 'utf8').catch(() => ''); // it did not come to writing one
    const last = said.trim().split('\n').slice(-3).join(' | ');
    throw new PlacetError(
      'redis_unsuitable',
      `the private Redis does not start: ${last || 'it said nothing'}`,
    );
  }

  #use(care: Care): void {
    this.#care = care;
    this.#pid = care.state.pid;
    this.#port = care.state.port;
    this.#password = care.state.password;
  }

  /** Starts the server again when it is gone, or visits or takes over that of others. Never rejects. */
  async #watch(): Promise<void> {
    let failures = 0;
    let startedAt = performance.now();
    while (!this.#closing.signal.aborted) {
      await this.#pause(lookEveryMs);
      if (this.#closing.signal.aborted || (this.#care && (await isAlive(this.#care.state)))) continue;
      if (performance.now() - startedAt > 10 * backoffMs.most) failures = 0;
      if (failures > 0) await this.#pause(Math.min(backoffMs.first * 2 ** failures, backoffMs.most));
      if (this.#closing.signal.aborted) return;
      failures += 1;
      this.#options.log.warn({ dir: this.#folder.dir }, 'the private Redis is gone; starting it again');
      try {
        await this.#recover();
      } catch (error) {
        this.#options.log.error({ err: error }, 'the private Redis does not start; trying again');
      }
      startedAt = performance.now();
    }
  }

  async #recover(): Promise<void> {
    const care = this.#care;
    if (care?.kind !== 'own') {
      this.#care = undefined;
      await this.#settle(1000);
      return;
    }
    care.guard.stdin?.end();
    if (!(await this.#endsWithin(orphanMs)))
      throw new PlacetError('data_in_use', await this.#strangerDetail());
    await this.#start(care.lock);
  }

  async #end({ state, lock, guard }: Care & { kind: 'own' }): Promise<void> {
    guard.stdin?.end();
    const exited = guard.exitCode === null && guard.signalCode === null ? once(guard, 'exit') : undefined;
    if (!(await this.#endsWithin(endMs)) && (await isAlive(state))) process.kill(state.pid, 'SIGKILL');
    await exited;
    await this.#folder.tidy();
    await lock.release();
  }

  async #shortenLog(): Promise<void> {
    const found = await stat(this.#folder.logFile).catch(() => undefined); // there is none yet
    if (found && found.size > maxLogBytes) await rm(this.#folder.logFile, { force: true });
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined); // closing
  }
}

function isFree(port: number): Promise<boolean> {
  return listenOn(port).then(
    () => true,
    () => false,
  );
}

function freePort(): Promise<number> {
  return listenOn(0);
}

/** The port that could be listened on a moment ago. */
async function listenOn(port: number): Promise<number> {
  const probe = createServer();
  probe.listen(port, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  if (address === null || typeof address === 'string')
    throw new PlacetError('internal', 'a port has no number');
  return address.port;
}
