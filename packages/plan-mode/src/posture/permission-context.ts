import type { PermissionContext, PermissionMode, WorkingMode } from '@placet/protocol';

/** Where a session stands that is in this mode without having been in another one first (PM-3). */
export function contextOf(mode: PermissionMode): PermissionContext {
  return mode === 'plan' ? { mode, prePlanMode: 'default' } : { mode };
}

/**
 * Enters plan mode (PM-3): the mode so far is what to go back to. A session that plans already stays as it is, its
 * `prePlanMode` included.
 */
export function enterPlan(context: PermissionContext): PermissionContext {
  return context.mode === 'plan' ? context : { mode: 'plan', prePlanMode: context.mode };
}

/**
 * Leaves plan mode into `target`, or by `restore` into the mode from before it (PM-4), which is forgotten. A session
 * that does not plan stays as it is.
 */
export function leavePlan(context: PermissionContext, target: WorkingMode | 'restore'): PermissionContext {
  if (context.mode !== 'plan') return context;
  return { mode: target === 'restore' ? context.prePlanMode : target };
}

/**
 * The same context where the auto gate is closed (PM-7): neither the mode nor the one to go back to is `auto`, but
 * `default` in its place.
 */
export function withoutAuto(context: PermissionContext): PermissionContext {
  if (context.mode === 'auto') return { mode: 'default' };
  if (context.mode === 'plan' && context.prePlanMode === 'auto')
    return { mode: 'plan', prePlanMode: 'default' };
  return context;
}
