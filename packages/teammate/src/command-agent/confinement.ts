import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@placet/mailbox';
import { type GuardedOptions, startGuarded } from './guarded-process.ts';

/** How processes are kept in bounds on this system: what stands before the guard, and before the command. */
export interface Confinement {
  name:
    | 'namespaces'
    | 'user namespaces'
    | 'mount namespace'
    | 'user and mount namespace'
    | 'death signal'
    | 'guard';
  /** Before the guard: makes namespaces, and has the process die with this one. */
  enter: readonly string[];
  /** Before the command: takes away the rights that could undo the bounds. */
  drop: readonly string[];
  /** Whether folders can be made read-only. */
  protectsFolders: boolean;
  /** Whether the kernel ends the process when this one is gone; else the guard watches. */
  diesByKernel: boolean;
}

/** The confinement of each phase. */
export interface Confinements {
  plan: Confinement;
  implement: Confinement;
}

const deathSignal = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;
const processNamespace = ['-p', '-f', '--kill-child=KILL', '--mount-proc'] as const;
// What is kept serves only to read and write files as root does; a mount that is read-only stays so for root too.
const keptRights = '-all,+chown,+dac_override,+fowner,+fsetid,+kill';

function dropping(boundingSet: string): string[] {
  return ['setpriv', '--no-new-privs', '--inh-caps=-all', `--bounding-set=${boundingSet}`, '--'];
}

/** From the most that a system may be able to do to the least; the first that works is taken. */
const namespaces: readonly Confinement[] = [
  {
    name: 'namespaces',
    enter: [...deathSignal, 'unshare', '-m', ...processNamespace, '--'],
    drop: dropping(keptRights),
    protectsFolders: true,
    diesByKernel: true,
  },
  {
    name: 'user namespaces',
    enter: [...deathSignal, 'unshare', '-U', '-r', '-m', ...processNamespace, '--'],
    drop: dropping('-all'),
    protectsFolders: true,
    diesByKernel: true,
  },
  {
    name: 'mount namespace',
    enter: [...deathSignal, 'unshare', '-m', '--'],
    drop: dropping('-all'),
    protectsFolders: true,
    diesByKernel: true,
  },
  {
    name: 'user and mount namespace',
    enter: [...deathSignal, 'unshare', '-U', '-r', '-m', '--'],
    drop: dropping('-all'),
    protectsFolders: true,
    diesByKernel: true,
  },
];
const onlyDeathSignal: Confinement = {
  name: 'death signal',
  enter: deathSignal,
  drop: [],
  protectsFolders: false,
  diesByKernel: true,
};
const onlyGuard: Confinement = {
  name: 'guard',
  enter: [],
  drop: [],
  protectsFolders: false,
  diesByKernel: false,
};

/** Every confinement there is, the strongest first. */
export const confinements: readonly Confinement[] = [...namespaces, onlyDeathSignal, onlyGuard];

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
