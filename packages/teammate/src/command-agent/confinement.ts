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

const deathSignal = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;
const processNamespace = ['-p', '-f', '--kill-child=KILL', '--mount-proc'] as const;
// What is kept serves only to read and write files as root does; a mount that is read-only stays so for root too.
const keptRights = '-all,+chown,+dac_override,+fowner,+fsetid,+kill';

function dropping(boundingSet: string): string[] {
  return ['setpriv', '--no-new-privs', '--inh-caps=-all', `--bounding-set=${boundingSet}`, '--'];
}

/** Those that bound processes by namespaces, from the most that a system may be able to do to the least. */
export const namespaces: readonly Confinement[] = [
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
/** No folder is protected, but the kernel ends the process with this one. */
export const onlyDeathSignal: Confinement = {
  name: 'death signal',
  enter: deathSignal,
  drop: [],
  protectsFolders: false,
  diesByKernel: true,
};
/** What works everywhere: the guard watches, and nothing is protected. */
export const onlyGuard: Confinement = {
  name: 'guard',
  enter: [],
  drop: [],
  protectsFolders: false,
  diesByKernel: false,
};

/** Every confinement there is, the strongest first. */
export const confinements: readonly Confinement[] = [...namespaces, onlyDeathSignal, onlyGuard];
