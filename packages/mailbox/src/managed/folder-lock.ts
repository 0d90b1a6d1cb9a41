import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFile } from '../signing/private-files.ts';
import { isAlive, ProcessIdentity, thisProcess } from './process-identity.ts';

/** A folder that is ours alone. */
export interface FolderLock {
  /** The claim's file: while it is there, the folder is ours. */
  readonly file: string;
  release(): Promise<void>;
}

const prefix = 'claim-';

/**
 * Tries to take a folder. Everyone writes a claim of their own first and then looks for others': of two, at least one
 * sees the other and gives way, and a dead process' claim, which no other can have, is simply removed. There is no
 * shared file whose taking over could be raced.
 * @returns the lock, or who has it or tries at this very moment (try again after a moment)
 */
export async function tryLock(dir: string): Promise<FolderLock | ProcessIdentity> {
  const rival = await liveClaim(dir);
  if (rival) return rival;
  const file = join(dir, `${prefix}${randomUUID()}`);
  await createPrivateFile(file, JSON.stringify(await thisProcess()));
  const release = () => rm(file, { force: true });
  const other = await liveClaim(dir, file);
  if (!other) return { file, release };
  await release();
  return other;
}

/** Who has a claim to the folder and lives; claims of the dead are removed. */
export async function liveClaim(dir: string, except?: string): Promise<ProcessIdentity | undefined> {
  for (const name of await readdir(dir)) {
    const file = join(dir, name);
    if (!name.startsWith(prefix) || file === except || name.endsWith('.tmp')) continue;
    const claimer = await readClaim(file);
    if (claimer && (await isAlive(claimer))) return claimer;
    if (claimer) await rm(file, { force: true });
  }
  return undefined;
}

async function readClaim(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return ProcessIdentity.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined; // released between listing and reading; claims appear whole or not at all
  }
}
