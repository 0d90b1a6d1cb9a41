import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const leftOut = new Set(['.git', 'node_modules', 'dist', 'coverage', '.placet']);

/** The files of a tree that are somebody's work: those that Git tracks, or all of them where there is no Git. */
export async function listFiles(root) {
  try {
    const { stdout } = await promisify(execFile)('git', ['-c', 'core.fsmonitor=false', 'ls-files', '-z'], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout
      .split('\0')
      .filter((path) => path !== '' && !path.split('/').some((part) => leftOut.has(part)));
  } catch {
    return walk(root, '');
  }
}

async function walk(root, folder) {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const found = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (leftOut.has(entry.name)) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await walk(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

/** Whether a path matches a pattern: `*` within a folder, `**` across folders, `dir/` or `dir/…` for all below. */
export function matches(path, pattern) {
  const clean = pattern.replace(/^\.\//, '').replace(/…$|\.\.\.$/, '');
  const whole = clean.endsWith('/') ? `${clean}**` : clean;
  const source = whole
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map(
      (part) =>
        ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[part] ??
        part.replace(/[.+^${}()|[\]\\]/g, '\\$&'),
    )
    .join('');
  return new RegExp(`^${whole.includes('/') ? '' : '(?:.*/)?'}${source}(?:/.*)?$`).test(path);
}
