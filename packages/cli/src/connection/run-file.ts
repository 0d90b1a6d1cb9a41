import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlacetError, TeammateName, TeamName } from '@placet/protocol';
import { z } from 'zod';

/** What `<data>/run.json` says: which process serves this folder, and how to reach it (WR-42, OP-10). */
export const RunFile = z.looseObject({
  v: z.literal(1),
  /** The process of `placet up`, and when the system says it started. */
  pid: z.number().int().positive(),
  startedAt: z.string(),
  url: z.url(),
  /** Holds a password: the file is 0600. */
  redisUrl: z.string(),
  dataDir: z.string(),
  team: TeamName,
  /** The built-in teammate; absent with `--no-teammate`. */
  teammate: TeammateName.optional(),
});
export type RunFile = z.infer<typeof RunFile>;

/** The path of a data folder's run file. */
export function runFileOf(dataDir: string): string {
  return join(dataDir, 'run.json');
}

/** Writes the run file, readable by this user only; readers see the old one or the new one. */
export async function writeRunFile(run: RunFile): Promise<void> {
  const path = runFileOf(run.dataDir);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(run, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

/** Removes the run file. */
export async function removeRunFile(dataDir: string): Promise<void> {
  await rm(runFileOf(dataDir), { force: true });
}

/**
 * Reads a data folder's run file; undefined where there is none.
 * @throws PlacetError `config_invalid` when it is damaged or belongs to another user.
 */
export async function readRunFile(dataDir: string): Promise<RunFile | undefined> {
  const path = runFileOf(dataDir);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new PlacetError(
      'unauthenticated',
      `${path}: cannot be read (${String(error.code)}); it belongs to another user`,
    );
  }
  const parsed = RunFile.safeParse(jsonOf(text));
  if (!parsed.success)
    throw new PlacetError('config_invalid', `${path}: is damaged; stop and start placet up`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
