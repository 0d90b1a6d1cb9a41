import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@placet/protocol';
import { type Confinement, confinements, namespaces, onlyDeathSignal, onlyGuard } from './confinement.ts';
import { type GuardedOptions, startGuarded } from './guarded-process.ts';

/** The confinement of each phase. */
export interface Confinements {
  plan: Confinement;
  implement: Confinement;
}

/**
 * Finds out, by trying, what this system can do (TM-22), and says it in the log. `folder` is one that this process may
 * write to; `environment` is what agents get.
 */
export async function detectConfinements(options: {
  folder: string;
  environment: Readonly<Record<string, string>>;
  log: Log;
}): Promise<Confinements> {
  const plan = await firstThatWorks(confinements, options);
  // Work is done with all rights of the teammate: only a namespace that leaves them is of use there.
  const bare = namespaces
    .slice(0, 1)
    .map((first): Confinement => ({ ...first, drop: [], protectsFolders: false }));
  const implement = await firstThatWorks([...bare, onlyDeathSignal, onlyGuard], options);
  const fields = { plan: plan.name, implement: implement.name };
  if (plan.protectsFolders) options.log.info(fields, 'agents plan on a tree that is read-only for them');
  else
    options.log.warn(
      fields,
      'this system cannot make a tree read-only: changes of planning agents are only found afterwards',
    );
  return { plan, implement };
}

async function firstThatWorks(
  candidates: readonly Confinement[],
  { folder, environment }: { folder: string; environment: Readonly<Record<string, string>> },
): Promise<Confinement> {
  const probed = await realpath(await mkdtemp(join(folder, '.probe-')));
  try {
    for (const confinement of candidates)
      if (await works(confinement, { cwd: probed, environment, readOnly: [probed], writable: [] }))
        return confinement;
  } finally {
    await rm(probed, { recursive: true, force: true });
  }
  return onlyGuard;
}

/** Tries to write, and to undo what keeps it from writing. */
const attack = '! touch x 2>&- && ! mount -o remount,bind,rw "$PWD" 2>&- && ! umount "$PWD" 2>&-';

async function works(
  confinement: Confinement,
  options: Pick<GuardedOptions, 'cwd' | 'environment' | 'readOnly' | 'writable'>,
) {
  const command = ['sh', '-c', confinement.protectsFolders ? attack : 'true'];
  try {
    const probe = await startGuarded({ ...options, command, confinement });
    for (const stream of probe.output) stream.resume();
    probe.go();
    return (await probe.ended) === 0;
  } catch {
    return false; // it cannot even be started: the next one may
  }
}
