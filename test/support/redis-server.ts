import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { findTestEngine } from './test-engine.ts';

/** A Redis for one test file. */
export interface TestRedis {
  readonly url: string;
  /** Ends it; its data is gone. */
  stop(): Promise<void>;
}

/** A Redis process of our own, which a test may hurt. */
export interface OwnRedis extends TestRedis {
  readonly port: number;
  readonly dir: string;
  readonly pid: number;
  /** kill -9. */
  kill9(): Promise<void>;
  /** Starts it again on the same port and data, after kill9 or while it runs. */
  restart(): Promise<void>;
  /** Stops it from answering, connections left open (SIGSTOP), until `resume`. */
  pause(): void;
  resume(): void;
}

/**
 * Starts the Redis that OP-4 chooses. Tests share it with nobody unless PLACET_TEST_REDIS_URL says so, and must use
 * teams of their own (`uniqueTeam`) in any case.
 */
export async function startRedis(): Promise<TestRedis> {
  const engine = await findTestEngine();
  if (engine.kind === 'process') return startOwnRedis();
  if (engine.kind === 'url') return { url: engine.url, stop: () => Promise.resolve() };
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(engine.image)
    .withCommand(['redis-server', '--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(6379)
    .start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => {
      await container.stop();
    },
  };
}

/** Starts a private redis-server, whatever OP-4 chooses: for tests that kill, pause or configure it. */
export function startOwnRedis(extraArguments: readonly string[] = []): Promise<OwnRedis> {
  const durability = ['--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];
  return startOwnServer((port, dir) => {
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
    return [...place, ...durability, ...extraArguments];
  });
}

/** Starts `redis-server` with what `argumentsOf` says for a free port and a folder of its own, each time that it starts. */
export async function startOwnServer(argumentsOf: ArgumentsOf): Promise<OwnRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'placet-redis-'));
  const server = new OwnServer(dir, argumentsOf);
  await server.start();
  return server;
}

type ArgumentsOf = (port: number, dir: string) => readonly string[];

let teams = 0;

/** A team name that no other test uses. */
export function uniqueTeam(): string {
  teams += 1;
  return `t${process.pid}-${Date.now().toString(36)}-${teams}`;
}

class OwnServer implements OwnRedis {
  readonly dir: string;
  readonly #argumentsOf: ArgumentsOf;
  #port = 0;
  #child: ChildProcess | undefined;
  #guard: ChildProcess | undefined;

  constructor(dir: string, argumentsOf: ArgumentsOf) {
    this.dir = dir;
    this.#argumentsOf = argumentsOf;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the test Redis does not run');
    return pid;
  }

  /** Takes a port below the ephemeral range; where it is taken, the next one. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#port = 20_000 + Math.floor(Math.random() * 12_000);
      if (await this.#launch()) return;
      if (attempt === 20) throw new Error('redis-server does not start; is it installed?');
    }
  }

  async kill9(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    if (!(await this.#launch())) throw new Error(`redis-server does not start again on port ${this.#port}`);
  }

  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #launch(): Promise<boolean> {
    const child = spawn('redis-server', this.#argumentsOf(this.#port, this.dir), { stdio: 'ignore' });
    this.#child = child;
    if (child.pid !== undefined) this.#guard = guard(child.pid);
    const exited = once(child, 'exit').then(() => false);
    return Promise.race([exited, answers(this.#port).then(() => child.exitCode === null)]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#guard?.kill('SIGKILL');
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}

/** Ends the server when this process is gone, however it went: the guard's input ends with us. */
function guard(pid: number): ChildProcess {
  return spawn('sh', ['-c', 'read -r _; kill -9 "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
}

/** Waits until the server on this port has read its data and answers. */
async function answers(port: number): Promise<void> {
  await eventually(() => ping(port), { what: `an answer on port ${port}`, withinMs: 15_000 });
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'));
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (data) => {
      resolve(/^(?:\+PONG|-NOAUTH)/.test(data.toString())); // one that asks for a password answers too
      socket.end();
    });
  });
}
