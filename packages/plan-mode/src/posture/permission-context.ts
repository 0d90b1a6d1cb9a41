import { type PermissionMode, WorkingMode } from '@placet/protocol';
import { z } from 'zod';

/**
 * What a session may do (PM-1): a working mode, or planning together with the mode to go back to. Planning without
 * such a mode, or a working mode that has one, does not exist.
 */
export const PermissionContext = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('plan'), prePlanMode: WorkingMode }),
  ...WorkingMode.options.map((mode) => z.strictObject({ mode: z.literal(mode) })),
]);
export type PermissionContext = z.infer<typeof PermissionContext>;

/** Where a session stands that is in this mode without having been in another one first. */
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
