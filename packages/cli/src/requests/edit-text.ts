import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlacetError } from '@placet/protocol';
import type { World } from '../world.ts';

/**
 * Lets the person change a text in `$VISUAL`, else `$EDITOR`, else vi; answers it as it was saved.
 * @throws PlacetError `usage` when the editor cannot be started or fails
 */
export async function editText(
  { env, cwd }: Pick<World, 'env' | 'cwd'>,
  text: string,
  name: string,
): Promise<string> {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'placet-edit-')); // 0700
  const file = join(folder, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    // Editors are set with their arguments, as in "code --wait"; the shell takes them apart.
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { cwd, stdio: 'inherit' });
    const [code, signal] = await once(child, 'exit');
    if (code !== 0)
      throw new PlacetError(
        'usage',
        `the editor "${editor}" ended with ${signal ?? `exit code ${code}`}; nothing was decided`,
      );
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
