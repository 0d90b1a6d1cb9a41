import { isProcessAlive } from '@placet/mailbox';
import { PlacetError } from '@placet/protocol';
import type { Settings } from '../settings/load-settings.ts';
import { dataFolderCandidates } from '../settings/paths.ts';
import type { World } from '../world.ts';
import { type RunFile, readRunFile } from './run-file.ts';

/** A lead service that was found: where it is and, on the machine of `placet up`, its run file. */
export interface Service {
  url: string;
  local?: RunFile;
}

/**
 * Finds the lead service (WR-42): by `--url`/`PLACET_URL`, else by the data folder.
 * @throws PlacetError `service_unreachable` that says where it looked.
 */
export async function discoverService(world: World, settings: Settings): Promise<Service> {
  const { url, dataDir } = settings.config;
  const { run, looked } = await findRun(world, dataDir);
  if (url) return run && sameOrigin(run.url, url) ? { url, local: run } : { url };
  if (run) return { url: run.url, local: run };
  throw new PlacetError('service_unreachable', `no Placet runs here (looked in ${looked.join(', then ')})`);
}

/** The run file of a `placet up` that is alive, or where none was found. */
export async function findRun(
  world: World,
  dataDir: string | undefined,
): Promise<{ run: RunFile | undefined; looked: string[] }> {
  const looked = await dataFolderCandidates(world, dataDir);
  for (const folder of looked) {
    const run = await findRunIn(folder);
    if (run) return { run, looked };
  }
  return { run: undefined, looked };
}

/**
 * The run file of a data folder whose `placet up` is alive. One that was left behind by a killed process must not lead
 * a token to whoever has the port now.
 */
export async function findRunIn(dataDir: string): Promise<RunFile | undefined> {
  const run = await readRunFile(dataDir);
  return run && (await isProcessAlive({ pid: run.pid, start: run.startedAt })) ? run : undefined;
}

function sameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}
