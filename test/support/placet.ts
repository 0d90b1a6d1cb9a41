import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { inRepository } from './repository.ts';

/** The command as it is built: `npm run build` first. */
const program = inRepository('packages/cli/dist/bin.js');

/** How a command is run: an environment of its own, so that no setting of this machine is in it. */
export interface PlacetOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  /** Kills it after this time, in milliseconds. */
  withinMs?: number;
}

/** How a command ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A folder of a test's own. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'placet-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Starts `placet` with these arguments. Its home is `cwd`, so that no file of this user's is read. */
export function spawnPlacet(
  args: readonly string[],
  { cwd = tmpdir(), env = {} }: PlacetOptions = {},
): ChildProcess {
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build`);
  const { PATH = '' } = process.env;
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH, HOME: cwd, XDG_STATE_HOME: join(cwd, 'state'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs `placet` to its end. */
export async function placet(args: readonly string[], options: PlacetOptions = {}): Promise<Ended> {
  const child = spawnPlacet(args, options);
  return ended(child, options);
}

/** Waits until a command ends, and answers what it printed meanwhile. */
export async function ended(
  child: ChildProcess,
  { input = '', withinMs = 60_000 }: PlacetOptions = {},
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      printed[name] += chunk;
    });
  child.stdin?.on('error', () => undefined); // it may end without reading
  child.stdin?.end(input);
  const kill = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const [code, signal] = await once(child, 'close');
  clearTimeout(kill);
  return { code: typeof code === 'number' ? code : signal === 'SIGKILL' ? 137 : 143, ...printed };
}

const Ready = z.object({
  event: z.literal('ready'),
  url: z.url(),
  redisUrl: z.string(),
  dataDir: z.string(),
});

/** A `placet up` that is ready. */
export interface Up {
  ready: z.infer<typeof Ready>;
  /** Every line of stdout so far. */
  lines: string[];
  child: ChildProcess;
  pid: number;
  /** Sends SIGTERM unless another signal is named, and answers its end. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

/** Starts `placet up --json` and answers when it says that it is ready. @throws Error with its stderr when it ends instead */
export async function startUp(
  dataDir: string,
  args: readonly string[] = [],
  options: PlacetOptions = {},
): Promise<Up> {
  const child = spawnPlacet(['up', '--json', '--port', '0', '--data', dataDir, ...args], {
    cwd: dataDir,
    ...options,
  });
  if (child.pid === undefined || !child.stdout) throw new Error('placet does not start');
  const lines: string[] = [];
  const first = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      lines.push(line);
      resolve(line);
    });
  });
  const end = ended(child, { withinMs: 300_000 });
  const line = await Promise.race([first, end]);
  if (typeof line !== 'string') throw new Error(`placet up ended with ${line.code}: ${line.stderr}`);
  const ready = Ready.strict().parse(JSON.parse(line));
  return {
    ready,
    lines,
    child,
    pid: child.pid,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return end;
    },
  };
}

/** A command's stdout as one JSON object. */
export function jsonOf({ stdout }: Ended): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(stdout));
}

const PrintedError = z.object({
  error: z.looseObject({ code: z.string(), detail: z.string(), hint: z.string(), exitCode: z.number() }),
});

/** The error that a command printed as JSON: the last line of its stderr. */
export function errorOf({ stderr }: Ended): z.infer<typeof PrintedError>['error'] {
  return PrintedError.parse(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).error;
}
