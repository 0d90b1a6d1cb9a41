import { copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies a folder: files with their modes, links as links, nothing that is neither. `isLeftOut` is asked for each path,
 * so that a copy can lie inside of what it is a copy of.
 */
export async function copyTree(
  from: string,
  to: string,
  isLeftOut: (path: string) => boolean,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of await readdir(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (isLeftOut(source)) continue;
    const stats = await lstat(source);
    if (stats.isDirectory()) await copyTree(source, target, isLeftOut);
    else if (stats.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (stats.isFile()) await copyFile(source, target);
  }
}
