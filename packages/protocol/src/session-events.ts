import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest } from './digest.ts';
import { RequestId } from './ids.ts';
import { ModelName, ModelReason } from './model-choice.ts';
import { GrantedMode, PermissionMode } from './permission-mode.ts';
import { Outcome } from './request-machine.ts';
import { UsagePhase } from './usage.ts';

/**
 * Why a session's mode changed (PM-78). `plan_abandoned`: someone cycled out of planning without an approval (PM-8);
 * `mode_confirmed`: the runtime is in a weaker mode than the granted one, which then holds (TM-11); `restored`: it came
 * back after a restart in another mode than its record says (PM-9).
 */
export const ModeCause = z.enum([
  'started',
  'entered',
  'exited',
  'plan_abandoned',
  'cycled',
  'approved',
  'mode_confirmed',
  'mode_mismatch',
  'auto_gate_closed',
  'restored',
]);
export type ModeCause = z.infer<typeof ModeCause>;

/** By which explicit act a session entered plan mode (PM-10); there is no other way in. */
export const EntryCause = z.enum(['start_flag', 'api', 'host_control', 'consent', 'meta_command']);
export type EntryCause = z.infer<typeof EntryCause>;

/** What every event of a session has: `seq` rises by one in its session, beginning with 1. */
const ofSession = { seq: z.number().int().positive(), at: Timestamp };

/** The session is now in this mode. `announcement` is the one sentence that every surface can show or speak (PM-19). */
export const PlanModeEvent = z.looseObject({
  type: z.literal('plan:mode'),
  ...ofSession,
  mode: PermissionMode,
  previousMode: PermissionMode,
  cause: ModeCause,
  /** With the cause `entered`. */
  entry: EntryCause.optional(),
  announcement: z.string().max(500),
  /** Said to people: such as that the auto mode is not available any more (PM-7). */
  notice: z.string().max(500).optional(),
});
/** A plan waits for its decision; a main thread's plan has no request ID. */
export const PlanProposedEvent = z.looseObject({
  type: z.literal('plan:proposed'),
  ...ofSession,
  requestId: RequestId.optional(),
  planDigest: Digest,
  revision: z.number().int().positive(),
});
/** A plan was decided. */
export const PlanDecidedEvent = z.looseObject({
  type: z.literal('plan:decided'),
  ...ofSession,
  requestId: RequestId.optional(),
  outcome: Outcome,
  planDigest: Digest.optional(),
  permissionMode: GrantedMode.optional(),
  planEdited: z.boolean().optional(),
});
/** The gate refused a call (PM-28). */
export const PlanBlockedEvent = z.looseObject({
  type: z.literal('plan:blocked'),
  ...ofSession,
  tool: z.string().max(256),
  reason: z.string().max(64),
});

/** Another model is in force (PM-80): `effective`, which is not what was `requested` where that one is not permitted. */
export const PlanModelEvent = z.looseObject({
  type: z.literal('plan:model'),
  ...ofSession,
  phase: UsagePhase,
  requested: ModelName,
  effective: ModelName,
  reason: ModelReason,
});

/** What happened to a session, in order (PM-78): enough for a client that joins late to draw the same transcript. */
export const SessionEvent = z.discriminatedUnion('type', [
  PlanModeEvent,
  PlanProposedEvent,
  PlanDecidedEvent,
  PlanBlockedEvent,
  PlanModelEvent,
]);
export type SessionEvent = z.infer<typeof SessionEvent>;
