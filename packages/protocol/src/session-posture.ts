import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest } from './digest.ts';
import { RequestId, SessionId, TeammateName, TeamName } from './ids.ts';
import { TaskPhase } from './job.ts';
import { PermissionMode, WorkingMode } from './permission-mode.ts';
import { Posture } from './posture.ts';
import { OpenQuestion } from './questions.ts';
import { LastAttachment } from './reminder-state.ts';
import { Decision, Work } from './request.ts';
import { RequestState } from './request-machine.ts';
import { EntryCause, ModeCause } from './session-events.ts';
import { TodoItem, todoLimits } from './todo.ts';
import { UsageByPhase } from './usage.ts';

/** The longest report of a session's host, in bytes of its JSON beyond what every one says: a full working list of any characters fits. */
export const maxPostureReportBytes = 128 * 1024;

const count = z.number().int().nonnegative();

/** How often the gate refused a tool for a reason. */
export const RefusalCount = z.looseObject({ tool: z.string().max(256), reason: z.string().max(64), count });
export type RefusalCount = z.infer<typeof RefusalCount>;

/**
 * What a session's host says of it, each time as a whole (PM-18). Every parked plan has one (TM-42), so leave out what
 * there is none of, and once it is submitted the plan and its usage: the request has them. It is shown, and believed in nothing else: no request is decided and no gate opened by it.
 */
export const PostureReport = z.looseObject({
  mode: PermissionMode,
  /** While planning: the mode to go back to. */
  prePlanMode: WorkingMode.optional(),
  /** Why the mode is this one, and since when. */
  cause: ModeCause.optional(),
  entry: EntryCause.optional(),
  since: Timestamp.optional(),
  /** Whether only a verified decision ends planning (PM-17); where it is not said, it counts as so. */
  planModeRequired: z.boolean().optional(),
  plan: z.looseObject({ path: z.string().max(4096), digest: Digest.optional() }).optional(),
  /** The last attachment that the model got, and at which user turn since entry or compaction (PM-51). */
  attachment: LastAttachment.loose().optional(),
  /** Calls that the gate refused: in all, and of the tools and reasons refused most. */
  refusals: z.looseObject({ total: count, most: z.array(RefusalCount).max(50) }).optional(),
  /** What each phase has used so far (PM-81). */
  usage: UsageByPhase.optional(),
  /** The working list (PM-93). */
  workingList: z.array(TodoItem).max(todoLimits.items).optional(),
  /** The last sentence that surfaces were told (PM-19). */
  announcement: z.string().max(500).optional(),
  /** What the host takes the session up from after a restart (PM-9); it may add fields of its own. Not shown. */
  posture: Posture.optional(),
});
export type PostureReport = z.infer<typeof PostureReport>;

/** A session's whole chain, from the mode it is in to the mode that an approval put into effect (PM-18). */
export const SessionPosture = z.looseObject({
  team: TeamName,
  teammate: TeammateName,
  sessionId: SessionId,
  /** Of its task; absent for a session that is none. */
  phase: TaskPhase.optional(),
  mode: z.looseObject({
    /** Absent where nobody reported it: then the session counts as planning (I1). */
    is: PermissionMode.optional(),
    /** Who says so. */
    from: z.enum(['host', 'nobody']),
    cause: ModeCause.optional(),
    entry: EntryCause.optional(),
    since: Timestamp.optional(),
    reportedAt: Timestamp.optional(),
  }),
  prePlanMode: PermissionMode.optional(),
  planModeRequired: z.boolean(),
  plan: z.looseObject({ path: z.string().optional(), digest: Digest.optional() }),
  lastAttachment: PostureReport.shape.attachment,
  refusals: z.looseObject({ total: count, most: z.array(RefusalCount) }),
  /** The latest request and what became of it. */
  request: z
    .looseObject({
      requestId: RequestId,
      state: RequestState,
      revision: z.number().int(),
      planDigest: Digest,
      deadline: Timestamp,
    })
    .optional(),
  decision: Decision.optional(),
  work: Work.optional(),
  /** The mode that the runtime said is in effect since the gate opened (TM-11). */
  effectiveMode: PermissionMode.optional(),
  /** Without what they ask, which may be long: the team's list has it. */
  openQuestions: z.array(OpenQuestion.omit({ ask: true }).extend({ kind: z.enum(['questions', 'consent']) })),
  workingList: z.array(TodoItem),
  usage: UsageByPhase,
  announcement: z.string().optional(),
  /** Each link of the chain that is not there, in words; empty where the chain is whole. */
  missing: z.array(z.string()),
});
export type SessionPosture = z.infer<typeof SessionPosture>;
