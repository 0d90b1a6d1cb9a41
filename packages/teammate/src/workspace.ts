import { existsSync, realpathSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside } from '@placet/plan-mode';
import { digestOfText, type Job, type Workspace } from '@placet/protocol';
import { type GitOptions, git, tryGit } from './git.ts';
import { treeDigest } from './tree-fingerprint.ts';

/** Where a task's work comes from: a folder of a Git repository, or one without Git. All paths are real ones. */
export type Source =
  | {
      kind: 'git';
      cwd: string;
      top: string /** `cwd` below `top`, empty for `top` itself. */;
      prefix: string;
      gitFolder: string;
    }
  | { kind: 'plain'; cwd: string };

/** What came of looking for a task's folder. */
export type SourceResult =
  | { kind: 'found'; source: Source }
  /** It is not on this machine: another process of the teammate may have it (TM-2). */
  | { kind: 'missing' }
  /** It is there and cannot be used. */
  | { kind: 'refused'; detail: string };

/** What finding and reading a source needs. */
export interface SourceOptions {
  /** Real paths of the folders below which tasks may work. */
  roots: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Repositories that were found before, by folder: asking Git costs milliseconds, and each wake-up asks. */
  known?: Map<string, Source> | undefined;
}

/** Makes the configured roots real paths; one that does not exist counts for nothing. */
export async function realRoots(roots: readonly string[]): Promise<string[]> {
  const real = await Promise.all(roots.map((root) => realpath(resolve(root)).catch(() => undefined)));
  return real.filter((root) => root !== undefined);
}

/**
 * Finds a job's folder: untrusted, so its real path, links resolved, must lie below a configured root (TM-2).
 * A repository that begins above the root counts as no Git: its other folders are nobody's business here.
 */
export async function findSource(
  job: Job,
  { roots, environment, known }: SourceOptions,
): Promise<SourceResult> {
  if (!isAbsolute(job.cwd)) return { kind: 'refused', detail: 'the folder is not an absolute path' };
  const cwd = realPathOf(job.cwd);
  if (cwd === undefined) {
    // Not even its name may lie outside: what is not there now may be a link tomorrow.
    const isBelow = roots.some((root) => isInside(resolve(job.cwd), root));
    return isBelow
      ? { kind: 'missing' }
      : { kind: 'refused', detail: "the folder is below none of the teammate's roots (setting roots)" };
  }
  if (!roots.some((root) => isInside(cwd, root)))
    return { kind: 'refused', detail: "the folder is below none of the teammate's roots (setting roots)" };
  if (!isFolder(cwd)) return { kind: 'refused', detail: 'it is not a folder' };
  const before = known?.get(cwd);
  if (before?.kind === 'git' && isStillThere(before)) return { kind: 'found', source: before };
  if (!isBelowGit(cwd)) return { kind: 'found', source: { kind: 'plain', cwd } };
  const result = await sourceOf(cwd, { cwd, environment });
  if (result.kind === 'found') known?.set(cwd, result.source);
  return result;
}

// These few looks stand in the way of every wake-up; by the thread pool each would take longer than all of them do so.

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // it is not there, or cannot be reached: which of the two makes no difference
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Whether a repository that was found before still begins where it did. */
function isStillThere({ top, gitFolder }: { top: string; gitFolder: string }): boolean {
  return existsSync(join(top, '.git')) && existsSync(join(gitFolder, 'HEAD'));
}

/** Whether Git would find a repository from here: where no folder above holds one, it need not be asked. */
function isBelowGit(cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return true;
    if (existsSync(join(folder, 'HEAD'))) return true; // perhaps a bare one: Git knows
    if (folder === dirname(folder)) return false;
  }
}

async function sourceOf(cwd: string, options: GitOptions): Promise<SourceResult> {
  const asked = await tryGit(['rev-parse', '--show-toplevel', '--git-common-dir', '--show-prefix'], options);
  if (asked.code !== 0) {
    if (/not a git repository/.test(asked.stderr)) return { kind: 'found', source: { kind: 'plain', cwd } };
    return {
      kind: 'refused',
      detail: `Git does not read it: ${asked.stderr.trim().split('\n')[0]?.slice(0, 200)}`,
    };
  }
  const [top = '', gitFolder = '', prefix = ''] = asked.stdout.split('\n');
  const head = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], options);
  if (head.code !== 0) return { kind: 'refused', detail: 'its repository has no commit yet' };
  return {
    kind: 'found',
    source: {
      kind: 'git',
      cwd,
      top: await realpath(top),
      prefix: prefix.replace(/\/$/, ''),
      gitFolder: await realpath(resolve(cwd, gitFolder)),
    },
  };
}

/** The commit that is checked out in a repository. */
export async function headOf(
  { top }: { top: string },
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  return (await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { cwd: top, environment })).trim();
}

/**
 * What the source is like now (TM-13): the commit that is checked out and a digest of what is not committed. Files that
 * Git ignores are left out: builds come and go.
 */
export async function captureWorkspace(
  source: Source,
  job: Job,
  environment: Readonly<Record<string, string>>,
): Promise<Workspace> {
  const about = { cwd: source.cwd, task: digestOfText(job.task), agent: job.agent };
  if (source.kind === 'plain') return { ...about, dirty: await treeDigest(source.cwd) };
  const options = { cwd: source.top, environment };
  const status = await git(['status', '--porcelain=v2', '-z', '--untracked-files=all'], options);
  const head = await headOf(source, environment);
  if (status === '') return { ...about, head };
  const changed = await git(['diff', '--no-ext-diff', '--no-textconv', '--binary', 'HEAD'], options);
  return { ...about, head, dirty: digestOfText(`${status}\0${changed}`) };
}

/** Whether two captures differ, and in what; for people. */
export function movedBetween(planned: Workspace, now: Workspace): string | undefined {
  if (planned.head !== now.head)
    return `the source is at ${now.head?.slice(0, 12)}, the plan was made at ${planned.head?.slice(0, 12)}`;
  if (planned.dirty !== now.dirty)
    return 'what is not committed in the source has changed since the plan was made';
  return undefined;
}

/** The folders that planning must not change: the source, and where Git keeps its repository. */
export function foldersOf(source: Source): string[] {
  return source.kind === 'git' ? [source.top, source.gitFolder] : [source.cwd];
}

/** Where the work is done in a tree of the source. */
export function workFolder(source: Source, root: string): string {
  return source.kind === 'git' ? join(root, source.prefix) : root;
}
