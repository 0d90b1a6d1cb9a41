import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Job } from '@placet/protocol';
import {
  captureWorkspace,
  findSource,
  minimalEnvironment,
  movedBetween,
  type Source,
  type TreeName,
  Worktrees,
} from '@placet/teammate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const environment = minimalEnvironment(process.env);
let folder: string;
let repository: string;
let trees: string;
let worktrees: Worktrees;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-trees-')));
  [repository, trees] = [join(folder, 'repository'), join(folder, 'data', 'trees')];
  await mkdir(join(repository, 'inner'), { recursive: true });
  await mkdir(trees, { recursive: true });
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(repository, 'inner', 'file'), 'one\n');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'one');
  worktrees = new Worktrees({ environment, dataDir: join(folder, 'data') });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function git(...args: string[]): Promise<string> {
  const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  const { stdout } = await promisify(execFile)('git', [...person, ...args], { cwd: repository });
  return stdout.trim();
}

const job = (cwd = repository): Job => ({ task: 'x', team: 'main', cwd, agent: 'a' });
const name = (epoch: number, sessionId = 's', purpose: TreeName['purpose'] = 'work'): TreeName => ({
  sessionId,
  folder: trees,
  purpose,
  epoch,
});

async function source(cwd = repository): Promise<Source> {
  const found = await findSource(job(cwd), { roots: [folder], environment });
  if (found.kind !== 'found') throw new Error(JSON.stringify(found));
  return found.source;
}

describe('the tree of an epoch', () => {
  it('[TM-16] is a worktree of its own: what one epoch does is in no other', async () => {
    const from = await source();
    const [first, second] = [await worktrees.make(from, name(1)), await worktrees.make(from, name(2))];
    await writeFile(join(first.cwd, 'of-first'), 'x');
    await writeFile(join(second.cwd, 'of-second'), 'x');
    const made = await worktrees.commit(second, 'second');

    expect(made.changed).toBe(true);
    expect((await git('show', '--stat', '--format=%an', made.commit ?? '')).split('\n')[0]).toBe(
      'Placet teammate',
    );
    expect(await git('ls-tree', '-r', '--name-only', made.commit ?? '')).toBe('inner/file\nof-second');
    expect(await readdir(repository)).toEqual(['.git', 'inner']);
  });

  it('[TM-16] publishes nothing before it is told to, and the same again changes nothing', async () => {
    const from = await source();
    const tree = await worktrees.make(from, name(1));
    await writeFile(join(tree.cwd, 'new'), 'x');
    const { commit = '' } = await worktrees.commit(tree, 'work');
    expect(await git('branch', '--list', 'placet/*')).toBe('');
    const publish = () => worktrees.publish({ source: from, branch: 'placet/a', commit, tree });
    await Promise.all([publish(), publish(), publish()]);
    await publish();

    expect(await git('rev-parse', 'placet/a')).toBe(commit);
  });

  it('[TM-16] never moves a branch that is there already', async () => {
    await git('branch', 'placet/a');
    const from = await source();
    const tree = await worktrees.make(from, name(1));
    await writeFile(join(tree.cwd, 'new'), 'x');
    const { commit = '' } = await worktrees.commit(tree, 'work');

    await expect(worktrees.publish({ source: from, branch: 'placet/a', commit, tree })).rejects.toThrow(
      'placet/a',
    );
    expect(await git('rev-parse', 'placet/a')).toBe(await git('rev-parse', 'main'));
  });

  it('[TM-16] is made anew where a lost attempt left one, and old ones are thrown away with all that Git keeps', async () => {
    const from = await source();
    const lost = await worktrees.make(from, name(1));
    await writeFile(join(lost.cwd, 'left'), 'x');
    await mkdir(join(lost.cwd, 'locked'));
    await chmod(join(lost.cwd, 'locked'), 0o500);
    const again = await worktrees.make(from, name(1));
    expect(await readdir(again.cwd)).toEqual(['.git', 'inner']);
    await rm(join(again.root, '.git')); // damaged
    const kept = await worktrees.make(from, name(2));
    await worktrees.discardOthers(from, trees, name(2));

    expect(await readdir(trees)).toHaveLength(1);
    expect(await readdir(join(repository, '.git', 'worktrees'))).toHaveLength(1);
    await worktrees.discard(kept);
    expect(await readdir(join(repository, '.git', 'worktrees'))).toHaveLength(0);
  });

  it('[TM-16] is made beside 20 others of the same repository at once, with locks about', async () => {
    const from = await source();
    await writeFile(join(repository, '.git', 'index.lock'), ''); // of somebody else's Git
    const made = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const tree = await worktrees.make(from, name(1, `s-${at}`));
        await writeFile(join(tree.cwd, 'of'), String(at));
        const { commit = '' } = await worktrees.commit(tree, `work ${at}`);
        await worktrees.publish({ source: from, branch: `placet/${at}`, commit, tree });
        return tree;
      }),
    );

    for (const at of made.keys()) expect(await git('show', `placet/${at}:of`)).toBe(String(at));
  });

  it('runs no hook of the repository', async () => {
    const hook = `#!/bin/sh\ntouch ${folder}/ran\n`;
    for (const kind of ['post-checkout', 'pre-commit', 'reference-transaction'])
      await writeFile(join(repository, '.git', 'hooks', kind), hook, { mode: 0o755 });
    const from = await source();
    const tree = await worktrees.make(from, name(1));
    await writeFile(join(tree.cwd, 'new'), 'x');
    const { commit = '' } = await worktrees.commit(tree, 'work');
    await worktrees.publish({ source: from, branch: 'placet/a', commit, tree });

    expect(await readdir(folder)).not.toContain('ran');
  });

  it('works in the folder of the task, below the top of its repository', async () => {
    const tree = await worktrees.make(await source(join(repository, 'inner')), name(1));

    expect(await readdir(tree.cwd)).toEqual(['file']);
    expect(tree.cwd).toBe(join(tree.root, 'inner'));
  });

  it('[TM-16] refuses what left the history that it was given', async () => {
    const tree = await worktrees.make(await source(), name(1));
    const options = { cwd: tree.root };
    await promisify(execFile)('git', ['checkout', '--quiet', '--orphan', 'other'], options);
    await writeFile(join(tree.cwd, 'new'), 'x');

    await expect(worktrees.commit(tree, 'work')).rejects.toMatchObject({ code: 'agent_failed' });
  });

  it('[TM-2] waits where the commit is not in the repository on this machine', async () => {
    await expect(worktrees.make(await source(), name(1), 'a'.repeat(40))).rejects.toMatchObject({
      code: 'workspace_missing',
    });
  });
});

describe('a folder without Git', () => {
  let plain: string;

  beforeEach(async () => {
    plain = join(folder, 'plain');
    await mkdir(join(plain, 'data'), { recursive: true });
    await writeFile(join(plain, 'file'), 'one', { mode: 0o750 });
    await symlink('/etc', join(plain, 'link'));
    worktrees = new Worktrees({ environment, dataDir: join(plain, 'data') });
    trees = join(plain, 'data', 'trees');
    await mkdir(trees);
  });

  it('[TM-16] is copied, links as links, without the teammate’s own data, and published as a copy', async () => {
    const from = await source(plain);
    expect(from.kind).toBe('plain');
    const tree = await worktrees.make(from, name(1));
    expect((await readdir(tree.cwd)).toSorted()).toEqual(['file', 'link']);
    await writeFile(join(tree.cwd, 'file'), 'two');
    await worktrees.publish({ source: from, branch: 'placet/a', commit: 'c', tree });
    await worktrees.publish({ source: from, branch: 'placet/a', commit: 'c', tree: undefined });

    expect(await readFile(join(plain, 'file'), 'utf8')).toBe('one');
    expect(await readFile(join(plain, 'data', 'results', 'placet', 'a', 'file'), 'utf8')).toBe('two');
  });
});

describe('what a plan was made on', () => {
  it('[TM-13] is the commit and a digest of what is not committed', async () => {
    const capture = async () => captureWorkspace(await source(), job(), environment);
    const clean = await capture();
    expect(clean).toMatchObject({ cwd: repository, head: await git('rev-parse', 'HEAD'), agent: 'a' });
    expect(clean.dirty).toBeUndefined();
    expect(movedBetween(clean, await capture())).toBeUndefined();

    await writeFile(join(repository, 'inner', 'file'), 'two\n');
    const dirty = await capture();
    expect(movedBetween(clean, dirty)).toContain('not committed');
    await writeFile(join(repository, 'inner', 'file'), 'six\n');
    expect(movedBetween(dirty, await capture())).toContain('not committed');

    await git('commit', '--quiet', '--all', '-m', 'two');
    expect(movedBetween(clean, await capture())).toContain('the plan was made at');
  });

  it('[TM-13] is every file where there is no Git', async () => {
    const plain = join(folder, 'plain');
    await mkdir(plain);
    await writeFile(join(plain, 'file'), 'one');
    const capture = async () => captureWorkspace(await source(plain), job(plain), environment);
    const before = await capture();
    expect(movedBetween(before, await capture())).toBeUndefined();
    await writeFile(join(plain, 'file'), 'two');

    expect(movedBetween(before, await capture())).toBeDefined();
  });
});
