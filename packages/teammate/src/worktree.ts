import { readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isInside } from '@placet/plan-mode';
import { digestOfText, PlacetError, type SessionId } from '@placet/protocol';
import { copyTree } from './copy-tree.ts';
import { type GitOptions, git, tryGit } from './git.ts';
import { foldersOf, headOf, type Source, workFolder } from './workspace.ts';

/** A tree of one session and epoch (TM-16): nothing of another one is ever in it. */
export interface Tree {
  source: Source;
  /** Where it was checked out. */
  root: string;
  /** Where in it the work is done. */
  cwd: string;
  /** The commit that it started from; absent where there is no Git. */
  base: string | undefined;
}

/** Which tree it is. */
export interface TreeName {
  sessionId: SessionId;
  /** The folder of the session's trees. */
  folder: string;
  purpose: 'plan' | 'work';
  epoch: number;
}

/** What was made of a tree. */
export interface Made {
  /** The commit; absent where there is no Git, or nothing changed. */
  commit: string | undefined;
  changed: boolean;
}

const addAttempts = 50;
const author = { name: 'Placet teammate', email: 'teammate@placet.invalid' };

/** Makes, keeps and throws away the trees that agents work in. Safe beside other processes on the same repository. */
export class Worktrees {
  readonly #environment: Readonly<Record<string, string>>;
  /** Left out of copies: the teammate's own data may lie in the source. */
  readonly #dataDir: string;

  constructor({ environment, dataDir }: { environment: Readonly<Record<string, string>>; dataDir: string }) {
    this.#environment = environment;
    this.#dataDir = dataDir;
  }

  /**
   * Makes a tree at `base` (the source's commit unless given): a worktree of its own, detached from any branch, or a
   * copy where there is no Git.
   * @throws PlacetError `workspace_missing` when the repository here does not have the commit
   */
  async make(source: Source, name: TreeName, base?: string): Promise<Tree> {
    const root = join(name.folder, treeName(name));
    await this.#discard(source, root);
    if (source.kind === 'plain') {
      await copyTree(source.cwd, root, (path) => isInside(path, this.#dataDir));
      return { source, root, cwd: root, base: undefined };
    }
    const commit = base ?? (await headOf(source, this.#environment));
    await this.#requireCommit(source, commit);
    await this.#addWorktree(source, root, commit);
    return {
      source,
      root: await realpath(root),
      cwd: workFolder(source, await realpath(root)),
      base: commit,
    };
  }

  /** The tree of a name, where it is still there. */
  async find(source: Source, name: TreeName, base: string | undefined): Promise<Tree | undefined> {
    const root = join(name.folder, treeName(name));
    const found = await stat(root).catch(() => undefined);
    return found?.isDirectory() ? { source, root, cwd: workFolder(source, root), base } : undefined;
  }

  /**
   * Commits all that changed in a tree. What the agent committed itself stays, as long as it is on top of the base.
   * @throws PlacetError `agent_failed` when the agent left the base's history
   */
  async commit(tree: Tree, message: string): Promise<Made> {
    if (tree.source.kind === 'plain' || tree.base === undefined) return { commit: undefined, changed: true };
    const options = this.#in(tree.root);
    await git(['add', '--all'], options);
    const staged = await tryGit(['diff', '--cached', '--quiet', 'HEAD'], options);
    if (staged.code !== 0) {
      const identity = [`user.name=${author.name}`, `user.email=${author.email}`].flatMap((setting) => [
        '-c',
        setting,
      ]);
      await git(
        [...identity, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=verbatim', '--file=-'],
        {
          ...options,
          input: message,
        },
      );
    }
    const commit = (await git(['rev-parse', 'HEAD'], options)).trim();
    const isOnTop = await tryGit(['merge-base', '--is-ancestor', tree.base, commit], options);
    if (isOnTop.code !== 0)
      throw new PlacetError('agent_failed', 'the agent left the history that it was given');
    return commit === tree.base ? { commit: undefined, changed: false } : { commit, changed: true };
  }

  /**
   * Points the branch to what was settled; the same again changes nothing. Where there is no Git, the copy is moved to
   * `results/<branch>` below the teammate's data folder, and the source stays as it is.
   * @throws PlacetError `workspace_missing` when the commit or copy is not on this machine
   */
  async publish(from: {
    source: Source;
    branch: string;
    commit: string;
    tree: Tree | undefined;
  }): Promise<void> {
    const { source, branch, commit, tree } = from;
    if (source.kind === 'plain') return this.#publishCopy(branch, tree);
    await this.#requireCommit(source, commit);
    const ref = `refs/heads/${branch}`;
    const options = this.#in(source.top);
    const isThere = async () =>
      (await tryGit(['rev-parse', '--verify', '--quiet', ref], options)).stdout.trim() === commit;
    if (await isThere()) return;
    const unborn = '0'.repeat(commit.length);
    const made = await tryGit(['update-ref', '-m', 'placet: publish', ref, commit, unborn], options);
    if (made.code === 0 || (await isThere())) return; // somebody else may have been a moment earlier
    throw new Error(`the branch ${branch} cannot be made: ${made.stderr.trim().slice(-300)}`);
  }

  /** Throws a tree away, with what Git keeps of it. */
  async discard(tree: Tree): Promise<void> {
    await this.#discard(tree.source, tree.root);
  }

  /** Throws away every tree of a session but that of this epoch (none is left where none is named). */
  async discardOthers(source: Source, folder: string, keep?: TreeName): Promise<void> {
    const kept = keep && treeName(keep);
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name !== kept) await this.#discard(source, join(folder, name));
  }

  /** Git stumbles over a worktree that another process is just making, before it has made anything itself. */
  async #addWorktree(source: Source & { kind: 'git' }, root: string, commit: string): Promise<void> {
    const args = ['worktree', 'add', '--quiet', '--force', '--detach', root, commit];
    for (let attempt = 1; ; attempt += 1) {
      const { code, stderr } = await tryGit(args, this.#in(source.top));
      if (code === 0) return;
      if (attempt === addAttempts || !/failed to read .*commondir/.test(stderr))
        throw new Error(`the worktree ${root} cannot be made: ${stderr.trim().slice(-500)}`);
      await this.#discard(source, root);
      await pause(10 + Math.random() * 40);
    }
  }

  async #publishCopy(branch: string, tree: Tree | undefined): Promise<void> {
    const target = join(this.#dataDir, 'results', ...branch.split('/'));
    if (await isFolder(target)) return;
    if (!tree)
      throw new PlacetError('workspace_missing', 'the copy that was worked on is not on this machine');
    await rm(`${target}.part`, { recursive: true, force: true });
    await copyTree(tree.root, `${target}.part`, () => false);
    await rename(`${target}.part`, target);
  }

  async #discard(source: Source, root: string): Promise<void> {
    const kept = source.kind === 'git' ? await this.#administrationOf(source, root) : undefined;
    // The folder goes last: as long as it is there, whoever has the session next finds what a kill left of this.
    if (kept) await rm(kept, { recursive: true, force: true });
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Where Git keeps what belongs to a worktree. By hand, for `git worktree remove` refuses what is damaged. */
  async #administrationOf(source: Source & { kind: 'git' }, root: string): Promise<string | undefined> {
    const worktrees = join(source.gitFolder, 'worktrees');
    for (const name of await readdir(worktrees).catch(() => [])) {
      if (!name.startsWith(basename(root))) continue;
      const pointer = await readFile(join(worktrees, name, 'gitdir'), 'utf8').catch(() => '');
      if (pointer !== '' && resolve(dirname(pointer.trim())) === resolve(root)) return join(worktrees, name);
    }
    return undefined;
  }

  async #requireCommit(source: Source, commit: string): Promise<void> {
    const found = await tryGit(
      ['cat-file', '-e', `${commit}^{commit}`],
      this.#in(foldersOf(source)[0] ?? source.cwd),
    );
    if (found.code !== 0)
      throw new PlacetError(
        'workspace_missing',
        `the commit ${commit.slice(0, 12)} is not in the repository on this machine`,
      );
  }

  #in(cwd: string): GitOptions {
    return { cwd, environment: this.#environment };
  }
}

/** Unique in the repository, so that Git's own records of worktrees can be told apart. */
function treeName({ sessionId, purpose, epoch }: TreeName): string {
  return `placet-${digestOfText(sessionId).slice(7, 19)}-${purpose}-${epoch}`;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
