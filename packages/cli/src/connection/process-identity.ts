import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * When a process started, as the system says it; with the process id it names a process for good, as ids are used
 * again. Undefined when there is no such process (or only its remains).
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name in parentheses may hold anything; the fields behind it are the state and, 19 later, the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  }
  const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  return listed?.stdout.trim() || undefined;
}

/** Whether this very process still runs. */
export async function isRunning({ pid, startedAt }: { pid: number; startedAt: string }): Promise<boolean> {
  return (await processStart(pid)) === startedAt;
}
