import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/** How a Git command ended. */
export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** How to run Git: `environment` is all that it gets beside what is set here. */
export interface GitOptions {
  cwd: string;
  environment: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  input?: string | undefined;
}

/**
 * Settings for every command of ours. An agent had the tree before us: nothing that it may have left in there, or in
 * the repository's configuration, is to run with our rights at a moment of its choosing.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.ignoreStat=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.untrackedCache=false',
  'core.quotePath=false',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting]);

const lockAttempts = 40;
const maxOutputBytes = 64 * 1024 * 1024;

/**
 * Runs Git and answers how it ended, also when it failed. A lock that another process holds is waited for, for a few
 * seconds.
 */
export async function tryGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await run(args, options);
    if (result.code === 0 || attempt === lockAttempts || !isLocked(result.stderr)) return result;
    await pause(20 + Math.random() * 20 * Math.min(attempt, 20), undefined, { signal: options.signal });
  }
}

/** Runs Git and answers its output. @throws Error, with the end of what Git said, when it fails */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const { code, stdout, stderr } = await tryGit(args, options);
  if (code !== 0) throw new Error(`git ${args[0]} failed with ${code}: ${stderr.trim().slice(-500)}`);
  return stdout;
}

/** Git has no code for it: the text is all there is, and LC_ALL=C keeps it the same. */
function isLocked(stderr: string): boolean {
  return /\.lock': File exists|could not lock config file/.test(stderr);
}

function run(args: readonly string[], { cwd, environment, signal, input }: GitOptions): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...settings, ...args],
      {
        cwd,
        env: { ...environment, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
        maxBuffer: maxOutputBytes,
        ...(signal && { signal }),
      },
      (error, stdout, stderr) => {
        if (!error) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
        else reject(error);
      },
    );
    child.stdin?.on('error', () => undefined); // Git ended without reading; its code says why
    child.stdin?.end(input ?? '');
  });
}
