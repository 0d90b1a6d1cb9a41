import type { ModeCause, PermissionMode } from '@placet/protocol';

/** A change of a session's mode, as it is told. */
export interface ModeChange {
  mode: PermissionMode;
  previousMode: PermissionMode;
  cause: ModeCause;
}

/** What people call each mode: words that can be spoken. */
const spokenModes = {
  default: 'default mode',
  acceptEdits: 'accept-edits mode',
  auto: 'auto mode',
  bypassPermissions: 'bypass-permissions mode',
  dontAsk: "don't-ask mode",
  plan: 'plan mode',
} as const satisfies Record<PermissionMode, string>;

const nothingIsChanged = 'nothing is changed before a plan is approved';

/**
 * The one sentence that tells people of a change of mode (PM-19), fit to be shown and to be spoken: no markup, no
 * line break, no text of a plan. It never says that a plan was approved but for an approval.
 */
export function announcementOf({ mode, previousMode, cause }: ModeChange): string {
  if (mode === 'plan') return `${planningClause(previousMode, cause)}: ${nothingIsChanged}.`;
  const now = `the session is now in ${spokenModes[mode]}`;
  switch (cause) {
    case 'started':
      return `The session starts in ${spokenModes[mode]}.`;
    case 'restored':
      return `The session came back in ${spokenModes[mode]}.`;
    case 'exited':
      return `Plan mode was left without an approved plan, and ${now}.`;
    case 'plan_abandoned':
      return `Planning was abandoned without an approved plan, and ${now}.`;
    case 'approved':
      return `The plan was approved, and ${now}; each call is judged as ever.`;
    case 'mode_confirmed':
      return `What was granted is more than what runs, and ${now}.`;
    case 'mode_mismatch':
      return `What runs is more than what was granted, and ${now}.`;
    case 'auto_gate_closed':
      return `Auto mode is not available any more, and ${now}.`;
    case 'entered':
    case 'cycled':
      return `The mode was changed from ${spokenModes[previousMode]}, and ${now}.`;
  }
}

function planningClause(previousMode: PermissionMode, cause: ModeCause): string {
  switch (cause) {
    case 'started':
      return 'The session starts in plan mode';
    case 'restored':
      return 'The session came back in plan mode';
    case 'auto_gate_closed':
      return 'Auto mode is not available any more, and the session is still in plan mode';
    case 'mode_mismatch':
      return 'What runs is more than what was granted, and the session is in plan mode again';
    case 'entered':
    case 'cycled':
    case 'exited':
    case 'plan_abandoned':
    case 'approved':
    case 'mode_confirmed':
      return `The session is ${previousMode === 'plan' ? 'still' : 'now'} in plan mode`;
  }
}
