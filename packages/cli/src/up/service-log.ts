import { mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog, type Log } from '@placet/lead';
import { pino } from 'pino';

/** A log file that is larger when a service starts is put aside; one older one is kept. In bytes. */
const putAsideOver = 10 * 1024 * 1024;

/** The path of a service's log file in a data folder, its folder made and a large one put aside. */
export async function logFileOf(dataDir: string, service: string): Promise<string> {
  const folder = join(dataDir, 'logs');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${service}.log`);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > putAsideOver) await rename(file, `${file}.1`);
  return file;
}

/** A service's log, into a file or, as a number, an open descriptor: 2 is stderr. Lines are whole, also after a kill. */
export function openLog(level: string, dest: string | number): Log {
  return createLog({ level, destination: pino.destination({ dest, sync: true, mode: 0o600 }) });
}
