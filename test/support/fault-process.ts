import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inRepository } from './repository.ts';

/** How a process of ours is started. */
export interface FaultProcessOptions {
  /** A TypeScript file of this repository, as a path from its root. */
  program: string;
  args?: readonly string[];
  /** All of its environment beside PATH and HOME. */
  env?: Readonly<Record<string, string>>;
  nodeArgs?: readonly string[];
}

/** A process that a test may kill. It ends with the test process, however that ends. */
export interface FaultProcess {
  readonly pid: number;
  /** The code or signal that it ended with; undefined while it runs. */
  readonly ending: number | string | undefined;
  /** Resolves with the first line of output for which `pick` answers something. @throws Error when it ends before */
  untilSaid<Value>(pick: (line: string) => Value | undefined): Promise<Value>;
  /** All that it has written so far, to its output and to its errors. */
  said(): string;
  /** Writes a line to its input. */
  tell(line: string): void;
  kill9(): Promise<void>;
  /** SIGTERM, and SIGKILL when that takes longer than `withinMs`; answers what it ended with. */
  stop(withinMs?: number): Promise<number | string>;
  signal(signal: NodeJS.Signals): void;
}

const keptLines = 2000;

/** Starts a process from the sources, so that no build can be older than what is tested. */
export function startFaultProcess(options: FaultProcessOptions): FaultProcess {
  return new RunningProcess(options);
}

class RunningProcess implements FaultProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess;
  readonly #ended: Promise<number | string>;
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();
  ending: number | string | undefined;

  constructor({ program, args = [], env = {}, nodeArgs = [] }: FaultProcessOptions) {
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(
      process.execPath,
      [...nodeArgs, '--conditions=@placet/source', '--import', 'tsx', inRepository(program), ...args],
      { cwd: inRepository(''), env: { PATH, HOME, ...env }, stdio: ['pipe', 'pipe', 'pipe'] },
    );
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${program} cannot be started`);
    this.pid = pid;
    this.#guard = endWithUs(pid);
    this.#child.stdin?.on('error', () => undefined); // it may be gone: its ending says so
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    this.#ended = once(this.#child, 'exit').then(([code, signal]: unknown[]) => {
      this.ending = typeof signal === 'string' ? signal : Number(code);
      this.#guard.kill('SIGKILL');
      return this.ending;
    });
  }

  async untilSaid<Value>(pick: (line: string) => Value | undefined): Promise<Value> {
    let look: (line: string) => void = () => undefined;
    const found = new Promise<Value>((resolve) => {
      look = (line) => {
        const value = pick(line);
        if (value !== undefined) resolve(value);
      };
    });
    this.#listeners.add(look);
    for (const line of this.#lines) look(line);
    const ended = this.#ended.then((ending) => {
      throw new Error(`the process ended with ${ending}:\n${this.said()}`);
    });
    ended.catch(() => undefined); // only the race is interested
    try {
      return await Promise.race([found, ended]);
    } finally {
      this.#listeners.delete(look);
    }
  }

  said(): string {
    return this.#lines.join('\n');
  }

  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async kill9(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }

  async stop(withinMs = 10_000): Promise<number | string> {
    this.signal('SIGTERM');
    const kill = setTimeout(() => this.signal('SIGKILL'), withinMs);
    try {
      return await this.#ended;
    } finally {
      clearTimeout(kill);
    }
  }

  signal(signal: NodeJS.Signals): void {
    if (this.ending === undefined) this.#child.kill(signal);
  }

  #take(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.splice(0, keptLines / 2);
    for (const listener of this.#listeners) listener(line);
  }
}

/** Ends a process when this one is gone: the guard's input ends with us. */
function endWithUs(pid: number): ChildProcess {
  const guard = spawn('sh', ['-c', 'read -r _; kill -9 "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.stdin?.on('error', () => undefined); // killed when the process has ended
  return guard;
}
