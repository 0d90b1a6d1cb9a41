import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { RequestId, SessionId, TeamName } from './ids.ts';
import { PermissionMode, WorkingMode } from './permission-mode.ts';
import { deadlineBoundsMs, Labels } from './request.ts';

/** How many revisions a plan may have before its task fails (TM-7). */
export const defaultMaxRevisions = 10;

/** The longest task text, in JavaScript string length. */
export const maxTaskChars = 100_000;

/**
 * A task as it is put into a teammate's queue (TM-2). Whoever can write to the queue can write this: it is
 * untrusted, names a profile of the teammate's own configuration and a folder below its roots, and grants nothing.
 */
export const Job = z.looseObject({
  task: z.string().min(1).max(maxTaskChars),
  team: TeamName,
  cwd: z.string().min(1).max(4096),
  agent: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  labels: Labels.optional(),
  deadlineMs: z.number().int().min(deadlineBoundsMs.min).max(deadlineBoundsMs.max).optional(),
  permissionCeiling: WorkingMode.optional(),
  /** The mode to go back to by `restore`; `default` unless set. It opens nothing before a decision (TM-1). */
  permissionMode: PermissionMode.optional(),
  planModeInstructions: z.string().max(maxTaskChars).optional(),
});
export type Job = z.infer<typeof Job>;

/** What wakes a parked task: which session, and the wake number that rises with each wake (TM-5). */
export const Wake = z.looseObject({ sessionId: SessionId, wake: z.number().int().nonnegative() });
export type Wake = z.infer<typeof Wake>;

/** The names of jobs in a teammate's queue. */
export const jobNames = { task: 'task', wake: 'wake' } as const;

/** The phases of a task (TM-2). */
export const TaskPhase = z.enum([
  'planning',
  'awaiting_answer',
  'awaiting_approval',
  'implementing',
  'done',
  'failed',
  'withdrawn',
  'teleported',
  'handed_over',
]);
export type TaskPhase = z.infer<typeof TaskPhase>;

/** Whether a task in this phase is over. */
export function isTaskOver(phase: TaskPhase): boolean {
  return !['planning', 'awaiting_answer', 'awaiting_approval', 'implementing'].includes(phase);
}

/** Why a task failed, as far as Placet says it; agents' own reasons follow a colon. */
export const failReasons = {
  plan_timeout: 'nobody decided before the deadline',
  revisions_exhausted: 'the plan was rejected as often as revisions are allowed',
  plan_mode_violation: 'the agent changed files while planning',
  plan_required: 'the agent made no plan',
  agent_failed: 'the agent ended with an error',
  decision_invalid: 'the decision does not verify',
  base_moved: 'the workspace moved after the plan was made',
  expired_unapplied: 'the approval lapsed before the work started',
  mode_mismatch: 'the runtime is in a stronger mode than was granted',
  unknown_agent: 'the teammate has no agent profile of that name',
  workspace_refused: "the folder is below none of the teammate's roots (setting roots)",
  job_invalid: 'the job is not well-formed',
} as const;
export type FailReason = keyof typeof failReasons;

/** Which process holds a session, well enough to end what it left over (TM-16). */
export const Holder = z.looseObject({
  /** Unique for each process and run. */
  id: z.string().min(1).max(64),
  host: z.string().max(255).optional(),
  pid: z.number().int().positive().optional(),
});
export type Holder = z.infer<typeof Holder>;

/** The record of a task: its session, phase and latest request, so that any process of the teammate can go on. */
export const TaskRecord = z.looseObject({
  v: z.number().int(),
  sessionId: SessionId,
  job: Job,
  phase: TaskPhase,
  /** Set once in the task's life unless the job of a foreign client made none. */
  createdAt: Timestamp,
  prePlanMode: PermissionMode,
  /** How many plans were submitted. */
  revision: z.number().int().nonnegative(),
  /** The latest request in the store. */
  requestId: RequestId.optional(),
  /** The request the teammate is about to submit or has just submitted (TM-4). */
  intent: z.looseObject({ requestId: RequestId, digest: z.string() }).optional(),
  epoch: z.number().int().nonnegative(),
  wake: z.number().int().nonnegative(),
  /** How often it entered plan mode again (WR-25): an order to leave it is void once this has risen. */
  planEntries: z.number().int().nonnegative().optional(),
  reason: z.string().optional(),
  branch: z.string().optional(),
  commit: z.string().optional(),
});
export type TaskRecord = z.infer<typeof TaskRecord>;
