import type { PermissionMode } from '@placet/protocol';

/** Which modes of the cycle a session has besides those that every one has. */
export interface AvailableModes {
  bypass: boolean;
  auto: boolean;
}

const cycle: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'auto'];

/** The mode after `mode` in the order of a UI's mode switch (PM-8). A mode that is not in it goes on with `default`. */
export function nextMode(mode: PermissionMode, available: AvailableModes): PermissionMode {
  // A session can be in a mode that is not available any more: what comes after it is still known.
  const after = cycle.slice(cycle.indexOf(mode) + 1);
  const isOffered = (one: PermissionMode) =>
    one === 'bypassPermissions' ? available.bypass : one !== 'auto' || available.auto;
  return after.find(isOffered) ?? 'default';
}
