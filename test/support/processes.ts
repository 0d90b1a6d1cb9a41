import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that has to do with a folder. */
export interface FoundProcess {
  pid: number;
  command: string;
}

/**
 * The processes that work in a folder or are told of it by their arguments or their environment: what a test that is
 * about leaving nothing behind looks for. Linux only.
 */
export function processesOf(folder: string): FoundProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
      const isOfFolder =
        linkOf(`/proc/${pid}/cwd`).startsWith(folder) ||
        command.includes(folder) ||
        textOf(`/proc/${pid}/environ`).includes(folder);
      return isOfFolder && command !== '' ? [{ pid: Number(pid), command }] : [];
    });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
