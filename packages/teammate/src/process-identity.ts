import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { digestOfText } from '@placet/protocol';

/**
 * Names a running process so that a later one can end exactly it (TM-16): `<pid>:<start>:<host>`. The start time tells
 * it from another process that was given the same number; the host part, made of the boot and the process namespace,
 * from one that only looks the same here.
 * @returns undefined where the process is gone, or where the system does not tell when a process started
 */
export async function identityOf(pid: number): Promise<string | undefined> {
  const start = await startOf(pid);
  return start === undefined ? undefined : `${pid}:${start}:${thisHost()}`;
}

/**
 * Ends what a former holder left running, and everything in its process group. Does nothing unless the identity is of
 * this host and its start time is that of the process which now has the number.
 * @returns whether it was there
 * @throws Error when it does not end within `withinMs`
 */
export async function endLeftover(identity: string, withinMs = 5000): Promise<boolean> {
  const [pidText = '', start, host] = identity.split(':');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 1 || host !== thisHost() || start === undefined) return false;
  if ((await startOf(pid)) !== start) return false;
  killGroup(pid);
  const giveUpAt = performance.now() + withinMs;
  while ((await startOf(pid)) === start) {
    if (performance.now() > giveUpAt) throw new Error(`the process ${pid} that was left over does not end`);
    await pause(5);
  }
  return true;
}

/** Kills a process that leads a group, and its whole group; what is gone already is no fault. */
export function killGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // gone already
    }
  }
}

/** When a process started, in ticks since the boot; undefined where it is gone or a zombie that its parent has not read. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The name in parentheses can hold anything, so fields are counted from behind it: state first, start time 20th.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

let host: string | undefined;

function thisHost(): string {
  host ??= digestOfText(
    [hostname(), ...['/proc/sys/kernel/random/boot_id', '/proc/self/ns/pid'].map(readAny)].join('\n'),
  ).slice(7, 19);
  return host;
}

function readAny(path: string): string {
  for (const read of [() => readlinkSync(path), () => readFileSync(path, 'utf8')]) {
    try {
      return read();
    } catch {
      // not a link, or not there at all
    }
  }
  return '';
}
