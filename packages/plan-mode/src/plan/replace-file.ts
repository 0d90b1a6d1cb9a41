import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { HeldFolder } from './held-folder.ts';

/**
 * Replaces a file as a whole or not at all: a temporary file beside it, fsync, rename (PM-43). Mode 0600; its folder is
 * made, private, where it is missing. A link in the file's place is replaced and not followed.
 */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const folder = await HeldFolder.hold(dirname(path));
  try {
    await replaceFileIn(folder, basename(path), content);
  } finally {
    await folder.close();
  }
}

/** The same in a folder that is held: in no other one, whatever becomes of its name. */
export async function replaceFileIn(
  folder: HeldFolder,
  name: string,
  content: Uint8Array | string,
): Promise<void> {
  const temporary = `.${randomUUID()}.tmp`;
  try {
    const file = await open(await folder.wayTo(temporary), 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(await folder.wayTo(temporary), await folder.wayTo(name));
  } catch (thrown) {
    // Best effort: why nothing was replaced is what the caller must hear.
    await folder.wayTo(temporary).then(
      (way) => rm(way, { force: true }),
      () => undefined,
    );
    throw thrown;
  }
  await folder.sync();
}

/** Puts on disk which files a folder has: a new or renamed one is lost to a power cut without it. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
