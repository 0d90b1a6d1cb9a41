import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Where plans of a project may be kept. */
export interface PlanDirectoryOptions {
  projectRoot: string;
  /** As configured, relative to the project root; the default directory unless set. */
  plansDirectory?: string | undefined;
  /** Absolute; where plans go otherwise. */
  defaultDirectory: string;
  /** Called once with the reason, where the configured directory cannot be used. */
  onRefused: (detail: string) => void;
}

/**
 * The directory that plans are written to (PM-41): the configured one if it lies inside the project, links included,
 * and can be written to; else the default one, with one error logged. Never throws for what is configured, and never
 * makes anything outside the project.
 */
export async function resolvePlanDirectory(options: PlanDirectoryOptions): Promise<string> {
  const { projectRoot, plansDirectory, defaultDirectory, onRefused } = options;
  if (plansDirectory === undefined) return defaultDirectory;
  const outcome = await configuredDirectory(projectRoot, plansDirectory);
  if ('directory' in outcome) return outcome.directory;
  onRefused(
    `plansDirectory ${JSON.stringify(plansDirectory)} ${outcome.refused}; plans go to the default directory`,
  );
  return defaultDirectory;
}

async function configuredDirectory(
  projectRoot: string,
  plansDirectory: string,
): Promise<{ directory: string } | { refused: string }> {
  if (isAbsolute(plansDirectory)) return { refused: 'is absolute, not relative to the project' };
  if (plansDirectory.includes('\0')) return { refused: 'holds a NUL character' };
  try {
    const root = await realpath(projectRoot);
    const directory = await realpathOfNearest(resolve(root, plansDirectory));
    if (!isInside(directory, root)) return { refused: 'leads outside the project' };
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Made in the meantime by somebody else, it could be a link by now.
    if (!isInside(await realpath(directory), root)) return { refused: 'leads outside the project' };
    await access(directory, constants.W_OK);
    return { directory };
  } catch (thrown) {
    return { refused: `cannot be used (${errorCode(thrown)})` };
  }
}

/** The path with links resolved as far as it exists: of the nearest parent there is, and the rest as it stands. */
async function realpathOfNearest(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    const parent = dirname(path);
    if (errorCode(thrown) !== 'ENOENT' || parent === path) throw thrown;
    return join(await realpathOfNearest(parent), basename(path));
  }
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error';
}
