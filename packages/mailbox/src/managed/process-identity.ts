import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { z } from 'zod';

/** A process, told from a later one that got the same number by when it started. */
export const ProcessIdentity = z.object({ pid: z.number().int().positive(), start: z.string() });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** This process. */
export async function thisProcess(): Promise<ProcessIdentity> {
  return { pid: process.pid, start: (await startOf(process.pid)) ?? '' };
}

/** Whether this very process still runs; one that ended and was not waited for does not. */
export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await startOf(pid)) === start;
}

/** When a process started, as text that only compares: clock ticks with the boot's id, else `ps`; undefined: gone. */
export async function startOf(pid: number): Promise<string | undefined> {
  try {
    return startFromStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform === 'linux' ? undefined : startFromPs(pid);
  }
}

/**
 * Reads what the server's own shell wrote before it became the server: its number, then its line of `/proc` or what
 * `ps` says of it.
 */
export function parseRecord(text: string): ProcessIdentity | undefined {
  const [first = '', second = ''] = text.split('\n');
  const start = second.includes(')') ? startFromStat(second) : second.trim();
  return /^\d+$/.test(first) && start ? { pid: Number(first), start } : undefined;
}

/** Field 22 of the line; the name in brackets before it may hold anything. A zombie counts as gone. */
function startFromStat(stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

async function startFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined; // ps fails where there is no such process
  }
}
