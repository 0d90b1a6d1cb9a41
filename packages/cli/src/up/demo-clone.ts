import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
// An agent works in the clone: nothing that it may leave in there is to run when we look at it.
const settings = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];

/** A repository of the demonstration's own: nothing that is done in it touches anything else. */
export interface DemoClone {
  path: string;
  /** What it is a clone of, or how it came about. */
  origin: string;
  /** Which of its files a demonstration works on, as a pattern. */
  sources: string;
}

/** The folder of a data folder that demonstrations work in. */
export function demoFolder(dataDir: string): string {
  return join(dataDir, 'demo');
}

/** Clones the repository that this program is in; makes a small one where there is none. */
export async function makeDemoClone(dataDir: string): Promise<DemoClone> {
  const parent = demoFolder(dataDir);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(parent, 'clone-'));
  const source = await ownRepository();
  if (source && (await cloned(source, path)))
    return { path, origin: source, sources: 'packages/protocol/src/**' };
  await rm(path, { recursive: true, force: true });
  await makeSmallRepository(path);
  return { path, origin: 'a small repository made for this', sources: 'src/**' };
}

/** Runs git in a folder and answers what it printed, without the last line break. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('git', [...settings, ...args], { cwd, maxBuffer: 16 * 1024 * 1024 });
  return stdout.trimEnd();
}

async function ownRepository(): Promise<string | undefined> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  try {
    const root = await git(here, '-c', 'safe.directory=*', 'rev-parse', '--show-toplevel');
    // Installed as a package, we are in somebody else's repository, which is no demonstration's to clone.
    return here.startsWith(join(root, 'packages', 'cli')) ? root : undefined;
  } catch {
    return undefined; // no Git, or no repository
  }
}

async function cloned(source: string, path: string): Promise<boolean> {
  try {
    await git(source, '-c', 'safe.directory=*', 'clone', '--quiet', source, path);
    await git(path, 'rev-parse', 'HEAD'); // a repository without a commit is nothing to work on
    return true;
  } catch {
    return false;
  }
}

async function makeSmallRepository(path: string): Promise<void> {
  await mkdir(join(path, 'src'), { recursive: true });
  for (const [name, text] of Object.entries(smallFiles)) await writeFile(join(path, name), text);
  await git(path, 'init', '--quiet', '--initial-branch=main');
  await git(path, 'add', '.');
  const person = ['-c', 'user.name=Placet demo', '-c', 'user.email=demo@placet.invalid'];
  await git(path, ...person, 'commit', '--quiet', '-m', 'feat: start the shop');
}

const smallFiles: Readonly<Record<string, string>> = {
  'README.md': '# Shop\n\nA small program for demonstrations.\n',
  'src/price.js': 'export const price = (cart) => cart.reduce((sum, { cents }) => sum + cents, 0);\n',
  'src/price.test.js':
    "import { price } from './price.js';\n\nif (price([{ cents: 1 }, { cents: 2 }]) !== 3) throw new Error('price');\n",
};
