import { mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { PlacetError } from '@placet/protocol';
import { z } from 'zod';
import { HeldFolder } from './held-folder.ts';
import { type PlanDirectoryOptions, resolvePlanDirectory } from './plan-directory.ts';
import { PlanFile } from './plan-file.ts';
import { planFileName, slugOf } from './slug.ts';

/** How often another slug is tried where a plan directory has a plan of that name already. */
const slugAttempts = 100;

/** Where the plans of one session are: chosen once, and kept with the session. */
export const PlanPlace = z.object({
  directory: z.string().min(1),
  /** The folder that nothing is written outside of, whatever becomes of `directory`. */
  boundary: z.string().min(1),
  slug: z.string().regex(/^[a-z]+-[a-z]+-[a-z]+$/),
});
export type PlanPlace = z.infer<typeof PlanPlace>;

/**
 * Chooses where a session's plans are (PM-40, PM-41), and takes the name of its main thread's plan with an empty file,
 * which is no plan: two sessions never share one, also where they choose at the same time.
 * @throws PlacetError `config_invalid` where the default directory cannot be used, or is full of plans.
 */
export async function choosePlanPlace(
  options: PlanDirectoryOptions & { sessionId: string },
): Promise<PlanPlace> {
  const { sessionId, projectRoot, defaultDirectory, onRefused } = options;
  const directory = await resolvePlanDirectory(options);
  if (directory !== defaultDirectory)
    try {
      return await claim(sessionId, { directory, boundary: await realpath(projectRoot) });
    } catch (thrown) {
      onRefused(
        `no plan can be put in ${directory} (${reasonOf(thrown)}); plans go to the default directory`,
      );
    }
  try {
    await mkdir(defaultDirectory, { recursive: true, mode: 0o700 });
    const real = await realpath(defaultDirectory);
    return await claim(sessionId, { directory: real, boundary: real });
  } catch (thrown) {
    const detail = `plans cannot be kept in ${defaultDirectory} (${reasonOf(thrown)})`;
    throw new PlacetError('config_invalid', detail, { cause: thrown });
  }
}

/** The plan of a session's main thread, or of an agent of it (PM-40). @throws PlacetError as `new PlanFile` does. */
export function planFileAt({ directory, boundary, slug }: PlanPlace, agentId?: string): PlanFile {
  return new PlanFile(join(directory, planFileName(slug, agentId)), boundary);
}

async function claim(sessionId: string, place: Omit<PlanPlace, 'slug'>): Promise<PlanPlace> {
  const folder = await HeldFolder.holdInside(place.boundary, place.directory);
  try {
    for (let attempt = 0; attempt < slugAttempts; attempt += 1) {
      const slug = slugOf(sessionId, attempt);
      const way = await folder.wayTo(planFileName(slug));
      const file = await open(way, 'wx', 0o600).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== 'EEXIST') throw thrown;
        return undefined;
      });
      await file?.close();
      if (file) return { ...place, slug };
    }
  } finally {
    await folder.close();
  }
  throw new Error('it has too many plans');
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'unknown error';
}
