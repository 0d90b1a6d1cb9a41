import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest } from './digest.ts';
import { TaskPhase } from './job.ts';
import { PermissionMode } from './permission-mode.ts';
import { Outcome } from './request-machine.ts';
import { ModeCause } from './session-events.ts';

const about = {
  teammate: z.string().optional(),
  sessionId: z.string().optional(),
  requestId: z.string().optional(),
};

/** A plan was submitted. */
const PlanProposed = z.looseObject({
  type: z.literal('plan:proposed'),
  ...about,
  planDigest: Digest,
  revision: z.number().int(),
});
/** A request ended; `outcome` says how. */
const PlanDecided = z.looseObject({
  type: z.literal('plan:decided'),
  ...about,
  outcome: Outcome,
  permissionMode: PermissionMode.optional(),
  by: z.string().optional(),
});
/** The work under an approval changed its state (TM-11). */
const WorkChanged = z.looseObject({
  type: z.literal('work'),
  ...about,
  state: z.enum(['delivered', 'claimed', 'applied', 'done', 'failed']),
  epoch: z.number().int().optional(),
  reason: z.string().optional(),
  /** For `done`: where the result is to be found. */
  branch: z.string().optional(),
});
/** A task entered a phase (TM-2). */
const PhaseChanged = z.looseObject({
  type: z.literal('task:phase'),
  ...about,
  phase: TaskPhase,
  reason: z.string().optional(),
});
/**
 * A session's mode is now another (PM-78), or a lead ordered that it be: then `by` says who, and there is no `seq`, for
 * the session's host numbers only what it did itself. `previousMode` is absent where nobody knows it.
 */
const PlanMode = z.looseObject({
  type: z.literal('plan:mode'),
  ...about,
  seq: z.number().int().positive().optional(),
  mode: PermissionMode,
  previousMode: PermissionMode.optional(),
  cause: ModeCause,
  announcement: z.string().max(500),
  by: z.string().optional(),
});
/** The gate of a session refused a call (PM-28). */
const PlanBlocked = z.looseObject({
  type: z.literal('plan:blocked'),
  ...about,
  seq: z.number().int().positive().optional(),
  tool: z.string().max(256),
  reason: z.string().max(64),
});
/** A question or consent was asked, or has ended (WR-12). `by` is who answered. */
const QuestionChanged = z.looseObject({
  type: z.literal('question'),
  ...about,
  kind: z.enum(['questions', 'consent']),
  state: z.enum(['asked', 'answered', 'unanswered']),
  by: z.string().optional(),
});
/** A message reached an inbox. */
const MessageSent = z.looseObject({ type: z.literal('message'), to: z.string(), from: z.string() });
/** Something that a lead must look at (I8). */
const Alarm = z.looseObject({ type: z.literal('alarm'), ...about, code: z.string(), detail: z.string() });

/** What the stores and services of this release append to a team's event log. */
export const TeamEventBody = z.discriminatedUnion('type', [
  PlanProposed,
  PlanDecided,
  WorkChanged,
  PhaseChanged,
  PlanMode,
  PlanBlocked,
  QuestionChanged,
  MessageSent,
  Alarm,
]);
export type TeamEventBody = z.infer<typeof TeamEventBody>;

/** An event as it is read: `id` is `<n>-0`, without gaps in a team (ST-6). Types unknown to this release are kept. */
export const TeamEvent = z.looseObject({
  id: z.string(),
  at: Timestamp,
  team: z.string(),
  type: z.string(),
  ...about,
});
export type TeamEvent = z.infer<typeof TeamEvent>;

/** The name of the server-sent event that says: the log does not reach back to your `Last-Event-ID`, fetch anew. */
export const resetEvent = 'reset';
