import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { Duplex, type Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { killGroup } from '../process-identity.ts';
import type { Confinement } from './confinement.ts';

/** What to run, and how. */
export interface GuardedOptions {
  command: readonly string[];
  cwd: string;
  /** All of the environment that it gets. */
  environment: Readonly<Record<string, string>>;
  confinement: Confinement;
  /** Folders that it cannot change, where the system can do that, and such that it can although they are inside. */
  readOnly: readonly string[];
  writable: readonly string[];
}

/** A process that was made ready and does nothing before `go`. It and all that it starts die with this process. */
export interface GuardedProcess {
  readonly pid: number;
  /** The permission mode as the process itself has it in its environment, just before it becomes the agent. */
  readonly mode: string;
  /** What it writes to its output and its errors. */
  readonly output: readonly Readable[];
  /** Lets it begin. */
  go(): void;
  /** How it ended: its code, or 128 and the signal's number as a shell says it. Its whole group is gone by then. */
  readonly ended: Promise<number>;
  /** Ends it and everything in its group, at once. */
  kill(): void;
}

const readyWithinMs = 20_000;
const closeWithinMs = 2000;

/**
 * Stands between us and the agent: binds the folders, says that it is ready and in which mode, and begins only when it
 * is told to. A worker that dies before it has written down what runs leaves nothing behind that does anything.
 * Arguments: how many folders, each as up:PATH, ro:PATH or rw:PATH, the folder to work in, the command.
 */
const makeReady = `
set -eu
folders=$1; shift
left=$folders
for folder in "$@"; do
  [ "$left" -gt 0 ] || break
  left=$((left - 1))
  case $folder in
    up:*) mount --rbind "\${folder#up:}" "\${folder#up:}" ;;
    *) mount --bind "\${folder#r?:}" "\${folder#r?:}" ;;
  esac
done
while [ "$folders" -gt 0 ]; do
  case $1 in ro:*) mount -o remount,bind,ro "\${1#ro:}" ;; esac
  folders=$((folders - 1)); shift
done
cd "$1"; shift
printf 'ready %s\\n' "\${PLACET_PERMISSION_MODE-}" >&3
IFS= read -r word <&3 || exit 125
[ "$word" = go ] || exit 125
`;
const becomeAgent = `${makeReady}exec "$@" 3<&-`;
// Where no signal of the kernel's says that we are gone, the end of the channel does.
const watchOverAgent = `${makeReady}
"$@" 3<&- &
agent=$!
{ IFS= read -r word <&3 || :; kill -KILL 0; } &
watcher=$!
code=0; wait "$agent" || code=$?
kill -KILL "$watcher"
exit "$code"`;

/** Starts a process behind its guard. @throws Error when it cannot be made ready, with the end of what it said */
export async function startGuarded(options: GuardedOptions): Promise<GuardedProcess> {
  const child = spawnBehindGuard(options);
  const ended = endOf(child);
  const { pid, stdout, stderr } = child;
  const channel = child.stdio[3];
  if (pid === undefined || !stdout || !stderr || !(channel instanceof Duplex))
    throw new Error(
      `the guard of ${options.command[0]} cannot be started: ${String(await ended.catch(String))}`,
    );
  channel.on('error', () => undefined); // the process is gone; how it ended says the rest
  const mode = await readinessOf(channel, stderr, ended).catch((thrown: unknown) => {
    killGroup(pid);
    throw thrown;
  });
  return {
    pid,
    mode,
    output: [stdout, stderr],
    go: () => {
      if (options.confinement.diesByKernel) channel.end('go\n');
      else channel.write('go\n');
    },
    ended: ended.finally(() => channel.destroy()),
    kill: () => killGroup(pid),
  };
}

function spawnBehindGuard({
  command,
  cwd,
  environment,
  confinement,
  readOnly,
  writable,
}: GuardedOptions): ChildProcess {
  const folders = confinement.protectsFolders ? boundFolders(readOnly, writable) : [];
  const script = confinement.diesByKernel ? becomeAgent : watchOverAgent;
  const guard = ['sh', '-c', script, 'sh', String(folders.length), ...folders, cwd];
  const [program = 'sh', ...args] = [...confinement.enter, ...guard, ...confinement.drop, ...command];
  return spawn(program, args, {
    cwd,
    env: { ...environment },
    detached: true, // a group of its own, to be ended as one
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
}

/**
 * Outer folders first, so that what is bound inside of one stays visible. What is mounted cannot be renamed: the folders
 * above those that are read-only are bound as they are, or one of them could be moved and another put in its place.
 */
function boundFolders(readOnly: readonly string[], writable: readonly string[]): string[] {
  const above = new Set(readOnly.flatMap(foldersAbove));
  return [
    ...new Set([
      ...[...above].map((path) => `up:${path}`),
      ...readOnly.map((path) => `ro:${path}`),
      ...writable.map((path) => `rw:${path}`),
    ]),
  ].sort((a, b) => a.length - b.length);
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === dirname(parent) ? [] : [...foldersAbove(parent), parent];
}

async function readinessOf(channel: Duplex, stderr: Readable, ended: Promise<number>): Promise<string> {
  let said = '';
  const onError = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-500);
  };
  stderr.on('data', onError);
  const gone = ended.then((code) => {
    throw new Error(`it ended with ${code} before it was ready: ${said.trim()}`);
  });
  gone.catch(() => undefined); // only the race below is interested
  try {
    const line = await Promise.race([firstLine(channel, AbortSignal.timeout(readyWithinMs)), gone]);
    const match = /^ready ?(.*)$/.exec(line);
    if (!match) throw new Error('it did not say that it is ready');
    return match[1] ?? '';
  } finally {
    stderr.off('data', onError);
    stderr.pause();
  }
}

async function firstLine(channel: Duplex, signal: AbortSignal): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('it was not ready in time')), { once: true });
    channel.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    // Without a line its end says why; that is awaited beside this.
  });
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // What it started in its group must not outlive it, nor hold its output open.
      if (child.pid !== undefined) killGroup(child.pid);
      const value = code ?? 128 + (signal ? constants.signals[signal] : 0);
      const closed = new Promise<void>((done) => {
        child.once('close', () => done());
      });
      void Promise.race([closed, pause(closeWithinMs)]).then(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(value);
      });
    });
  });
}
