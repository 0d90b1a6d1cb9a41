import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlacetError } from '@placet/protocol';

/**
 * Makes a folder that only its owner can read, where there is none.
 * @throws PlacetError `config_invalid` when others can read the one that is there.
 */
export async function ensurePrivateFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const found = await stat(dir);
  if (!found.isDirectory()) throw new PlacetError('config_invalid', `${dir} is not a folder`);
  refuseLooseMode(dir, found.mode, '700');
}

/**
 * Reads a small file that only its owner can read; undefined where there is none.
 * @throws PlacetError `config_invalid` when others can read it.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await openIfThere(path);
  if (!file) return undefined;
  try {
    // Asked of the open file, so that nobody can swap it between the look and the reading.
    refuseLooseMode(path, (await file.stat()).mode, '600');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Makes a file (0600) whole or not at all; false where one of that name is there already, and then it stays. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const temporary = await writeBeside(path, text, 0o600);
  try {
    await link(temporary, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  await syncFolder(dirname(path));
  return true;
}

/** Appends to a file (0600), which is made where there is none; on disk when this returns. */
export async function appendPrivateFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces a file whole; a reader sees the old text or the new one. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await rename(await writeBeside(path, text, mode), path);
  await syncFolder(dirname(path));
}

/** Whether a thrown value is a system error of this code, such as `ENOENT`. */
function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function writeBeside(path: string, text: string, mode: number): Promise<string> {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}

async function openIfThere(path: string) {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function syncFolder(dir: string): Promise<void> {
  // Windows cannot open a folder, and needs no sync of it.
  if (process.platform === 'win32') return;
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function refuseLooseMode(path: string, mode: number, wanted: '600' | '700'): void {
  // Windows has no such bits.
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const found = (mode & 0o777).toString(8);
  throw new PlacetError(
    'config_invalid',
    `${path} is open to others (mode ${found}), but what is in it must be its owner's alone: run chmod ${wanted} ${path}`,
  );
}
