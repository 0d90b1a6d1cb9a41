import { access, constants, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { World } from '../world.ts';

/** The name of a data folder that stands in a project. */
const folderName = '.placet';

/**
 * Where a data folder is looked for, the likeliest first (WR-42): the one that is named (`--data`, `PLACET_DATA`, a
 * settings file) and no other; else `.placet` in this folder or nearest above it, then the person's state folder.
 */
export async function dataFolderCandidates(
  world: Pick<World, 'env' | 'cwd' | 'home'>,
  named: string | undefined,
): Promise<string[]> {
  if (named) return [resolve(world.cwd, named)];
  const nearest = await nearestDataFolder(world.cwd);
  return [...(nearest ? [nearest] : []), stateFolder(world)];
}

/**
 * The data folder that a service or a key goes into: the first candidate that is there, else a new `.placet` here, or
 * the state folder where nothing can be written here.
 */
export async function dataFolderToUse(
  world: Pick<World, 'env' | 'cwd' | 'home'>,
  named: string | undefined,
): Promise<string> {
  const candidates = await dataFolderCandidates(world, named);
  const [first] = candidates;
  if (named && first) return first;
  for (const candidate of candidates) if (await isFolder(candidate)) return candidate;
  return (await isWritable(world.cwd)) ? join(world.cwd, folderName) : stateFolder(world);
}

function stateFolder({ env, home }: Pick<World, 'env' | 'home'>): string {
  return join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'placet');
}

async function nearestDataFolder(folder: string): Promise<string | undefined> {
  for (let here = folder; ; here = dirname(here)) {
    const candidate = join(here, folderName);
    if (await isFolder(candidate)) return candidate;
    if (dirname(here) === here) return undefined;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
