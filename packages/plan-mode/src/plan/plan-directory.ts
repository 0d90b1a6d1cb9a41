import { access, constants, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { HeldFolder } from './held-folder.ts';
import { isInside } from './is-inside.ts';

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
    // Somebody else may put a link on the way in the meantime: none is followed from here on.
    const folder = await HeldFolder.holdInside(root, directory, { make: true });
    try {
      await access(await folder.wayTo('.'), constants.W_OK);
    } finally {
      await folder.close();
    }
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

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error';
}
