import { z } from 'zod';

/** What a session may do without asking; `plan` means that it may change nothing (PM-1). */
export const PermissionMode = z.enum([
  'default',
  'acceptEdits',
  'auto',
  'bypassPermissions',
  'dontAsk',
  'plan',
]);
export type PermissionMode = z.infer<typeof PermissionMode>;

/** A mode in which work can be done: all but `plan`. */
export const WorkingMode = PermissionMode.exclude(['plan']);
export type WorkingMode = z.infer<typeof WorkingMode>;

/** What a lead may grant: a working mode, or the one from before planning (TM-30). */
export const GrantedMode = z.enum([...WorkingMode.options, 'restore']);
export type GrantedMode = z.infer<typeof GrantedMode>;

const ranks = {
  plan: -1,
  default: 0,
  dontAsk: 1,
  acceptEdits: 1,
  auto: 2,
  bypassPermissions: 3,
} as const satisfies Record<PermissionMode, number>;

/** Whether `mode` allows more than `ceiling` does, in the order of TM-30. */
export function exceeds(mode: PermissionMode, ceiling: PermissionMode): boolean {
  return ranks[mode] > ranks[ceiling];
}

/** The lower of the ceilings that are set; without any, the highest mode there is. */
export function lowestCeiling(...ceilings: (WorkingMode | undefined)[]): WorkingMode {
  let lowest: WorkingMode = 'bypassPermissions';
  for (const ceiling of ceilings) if (ceiling && exceeds(lowest, ceiling)) lowest = ceiling;
  return lowest;
}

/** What {@link resolveGrantedMode} reads. */
export interface Granting {
  /** What the decision says, if it says anything. */
  granted: GrantedMode | undefined;
  /** The mode the request's session had before it planned. */
  prePlanMode: PermissionMode;
  /** The lead's last `mode_changed`, if there was one. */
  leadMode: PermissionMode | undefined;
}

/**
 * The mode that a decision grants, before any ceiling is looked at (TM-30): the decision's own; `restore` is the
 * mode from before planning; where it says nothing, the lead's own mode. `plan` or none means `default`.
 */
export function resolveGrantedMode({ granted, prePlanMode, leadMode }: Granting): WorkingMode {
  const mode = granted === 'restore' ? prePlanMode : (granted ?? leadMode ?? 'default');
  return mode === 'plan' ? 'default' : mode;
}
