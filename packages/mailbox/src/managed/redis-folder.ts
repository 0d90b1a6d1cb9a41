import { readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { readPrivateFile, replaceFile } from '../signing/private-files.ts';
import { isAlive, type ProcessIdentity, parseRecord } from './process-identity.ts';

/** How a running private Redis is reached (OP-10); kept in its folder, for its user alone. */
export const RunState = z.object({
  v: z.literal(1),
  pid: z.number().int().positive(),
  start: z.string(),
  port: z.number().int().positive(),
  socket: z.string().optional(),
  password: z.string().min(1),
});
export type RunState = z.infer<typeof RunState>;

/** A socket's path can hold no more on any system we know. */
const maxSocketPath = 100;
const notePrefix = 'server-';

/** The folder of a private Redis: what is in it, and who serves it. */
export class RedisFolder {
  readonly dir: string;
  readonly configFile: string;
  readonly logFile: string;
  /** Undefined where the path is too long for a socket. */
  readonly socket: string | undefined;
  readonly #stateFile: string;

  constructor(dir: string) {
    this.dir = dir;
    this.configFile = join(dir, 'redis.conf');
    this.logFile = join(dir, 'redis.log');
    const socket = join(dir, 'redis.sock');
    this.socket = Buffer.byteLength(socket) <= maxSocketPath ? socket : undefined;
    this.#stateFile = join(dir, 'run.json');
  }

  noteFile(name: string): string {
    return join(this.dir, `${notePrefix}${name}`);
  }

  /** The server that runs on this folder, whoever started it; notes of dead ones are removed. */
  async server(): Promise<ProcessIdentity | undefined> {
    for (const name of await readdir(this.dir)) {
      if (!name.startsWith(notePrefix) || name.endsWith('.new')) continue;
      const file = join(this.dir, name);
      const noted = parseRecord(await readFile(file, 'utf8').catch(() => '')); // removed since it was listed
      if (noted && (await isAlive(noted))) return noted;
      if (noted) await rm(file, { force: true });
    }
    return undefined;
  }

  /** How to reach it, as its starter wrote down; undefined where there is nothing that can be read. */
  async state(): Promise<RunState | undefined> {
    try {
      return RunState.parse(JSON.parse((await readPrivateFile(this.#stateFile)) ?? ''));
    } catch {
      return undefined; // none, or one of another release: the server behind it cannot be adopted
    }
  }

  async writeState(state: RunState): Promise<void> {
    await replaceFile(this.#stateFile, `${JSON.stringify(state)}\n`, 0o600);
  }

  /** Takes away what only means something while a server runs. */
  async tidy(): Promise<void> {
    for (const file of [this.#stateFile, this.configFile, ...(this.socket ? [this.socket] : [])])
      await rm(file, { force: true });
    await this.server();
  }

  /** Whether the server of this state answers and serves this very folder. */
  async answers(state: RunState, timeoutMs = 1000): Promise<boolean> {
    const redis = new Redis({
      host: '127.0.0.1',
      port: state.port,
      password: state.password,
      protocol: 2,
      lazyConnect: true,
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      disableClientInfo: true,
      enableReadyCheck: false,
    });
    redis.on('error', () => undefined); // said by the calls below
    try {
      await redis.connect();
      if ((await redis.ping()) !== 'PONG') return false; // an error while it still reads its data
      const [, dir] = z.tuple([z.string(), z.string()]).parse(await redis.config('GET', 'dir'));
      return (await realpath(dir)) === (await realpath(this.dir));
    } catch {
      return false; // gone, not there yet, or somebody else's
    } finally {
      redis.disconnect();
    }
  }
}
