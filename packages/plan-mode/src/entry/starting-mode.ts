import type { Config, PermissionMode } from '@placet/protocol';

/** What decides on a new session's mode. */
export interface StartingMode extends Pick<Config, 'planModeDefault' | 'planModeRequired'> {
  /** What was asked for at this start, such as by a flag. */
  requested?: PermissionMode | undefined;
}

/**
 * The mode that a new session starts in (PM-16): where plan mode is required, `plan`; else what was asked for; else
 * `plan` where that is configured as the default, and only there.
 */
export function startingMode({ planModeDefault, planModeRequired, requested }: StartingMode): PermissionMode {
  if (planModeRequired) return 'plan';
  return requested ?? (planModeDefault ? 'plan' : 'default');
}
