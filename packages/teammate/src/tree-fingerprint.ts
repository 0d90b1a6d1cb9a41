import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Digest } from '@placet/protocol';
import { digestOfText } from '@placet/protocol';
import { git } from './git.ts';

/** A tree that may be fingerprinted. */
export interface FingerprintedTree {
  root: string;
  /** The repository's common folder; absent where there is no Git. */
  gitFolder: string | undefined;
}

/**
 * A digest that another one taken later differs from when the tree was changed (TM-22). With Git: the commit, each entry
 * of the index with its flags, every file that differs from it, that is new or that is ignored, and what could make Git
 * itself look away or run something: its configuration, hooks, attributes and exclusions. Without Git: every file.
 * The tree was checked out fresh: whatever is ignored or untracked is a change.
 */
export async function fingerprint(
  tree: FingerprintedTree,
  environment: Readonly<Record<string, string>>,
): Promise<Digest> {
  const { root, gitFolder } = tree;
  if (gitFolder === undefined) return treeDigest(root);
  const options = { cwd: root, environment };
  const pointer = await readFile(join(root, '.git'), 'utf8').catch(() => 'missing');
  const status = [
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=all',
    '--ignored=matching',
    '--no-renames',
  ];
  const parts = await Promise.all([
    git(['status', ...status], options),
    git(['ls-files', '--stage', '-v', '-z'], options),
    gitSettingsOf(gitFolder),
  ]);
  return digestOfText([pointer, ...parts].join('\0\0'));
}

/** The digest of all that a folder holds: names, kinds, executable bits, contents, links as links. */
export async function treeDigest(
  root: string,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<Digest> {
  const lines: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = (await readdir(join(root, folder))).sort();
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isLeftOut(join(root, path))) continue;
      const stats = await lstat(join(root, path));
      if (stats.isDirectory()) folders.push(path);
      const content = stats.isFile()
        ? await fileDigest(join(root, path))
        : stats.isSymbolicLink()
          ? await readlink(join(root, path))
          : '';
      lines.push(JSON.stringify([path, stats.mode & 0o170111, content]));
    }
  }
  return digestOfText(lines.sort().join('\n'));
}

async function gitSettingsOf(gitFolder: string): Promise<string> {
  const files = ['config', 'config.worktree', 'info/exclude', 'info/attributes'];
  const contents = await Promise.all(
    files.map((file) => readFile(join(gitFolder, file), 'utf8').catch(() => '')),
  );
  const hooks = await treeDigest(join(gitFolder, 'hooks')).catch(() => 'none');
  return [...contents, hooks].join('\0');
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
