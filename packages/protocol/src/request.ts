import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest, digestOfList } from './digest.ts';
import { Principal, RequestId, SessionId, TeammateName, TeamName } from './ids.ts';
import { GrantedMode, PermissionMode, WorkingMode } from './permission-mode.ts';
import { DecisionOutcome, Outcome, RequestState, WorkState } from './request-machine.ts';
import { UsageAmount, UsageByPhase } from './usage.ts';

/** A plan can be stored up to this many bytes of UTF-8 (WR-31, PM-43). */
export const maxPlanBytes = 1024 * 1024;
/** A plan can be approved up to this length, in JavaScript string length (PM-72). */
export const maxApprovablePlanChars = 200_000;
/** A request waits this long unless it says otherwise (WR-24). */
export const defaultDeadlineMs = 24 * 60 * 60 * 1000;
/** The shortest and the longest wait (WR-24). */
export const deadlineBoundsMs = { min: 1000, max: 30 * 24 * 60 * 60 * 1000 } as const;
/** An approval must be claimed within this time unless policy says otherwise (WR-28). */
export const defaultNotAfterMs = 24 * 60 * 60 * 1000;
/** The schema version that this release writes into records (OP-7, ST-2). */
export const recordVersion = 1;
/** The longest feedback, in JavaScript string length. */
export const maxFeedbackChars = 100_000;

/** Where the work is to be done (WR-10). */
export const ExecutionTarget = z.enum(['local', 'remote']);
export type ExecutionTarget = z.infer<typeof ExecutionTarget>;

/** Free labels of a task or request; policies may read them. */
export const Labels = z
  .record(z.string().min(1).max(64), z.string().max(256))
  .refine((labels) => Object.keys(labels).length <= 32, 'at most 32 labels');
export type Labels = z.infer<typeof Labels>;

/** What a plan declares that it will touch (TM-35). */
export const Scope = z.strictObject({
  write: z.array(z.string().max(512)).max(100).default([]),
  run: z.array(z.string().max(512)).max(100).default([]),
  tools: z.array(z.string().max(256)).max(100).default([]),
});
export type Scope = z.infer<typeof Scope>;

/** What a session has used so far (PM-81): in all, and where it is known of each phase. */
export const Usage = UsageAmount.extend({ byPhase: UsageByPhase.optional() });
export type Usage = z.infer<typeof Usage>;
/** The longest usage that a submission may give, in characters of its JSON: it stands in the record (TM-42). */
const maxUsageChars = 1000;

/** The workspace that a plan was made on (TM-13). */
export const Workspace = z.strictObject({
  cwd: z.string().min(1).max(4096),
  /** The commit that was checked out; absent where there is no Git. */
  head: z.string().max(64).optional(),
  /** The digest of what was not committed; absent where everything was. */
  dirty: Digest.optional(),
  /** The digest of the task's text. */
  task: Digest.optional(),
  /** The agent profile. */
  agent: z.string().max(64).optional(),
});
export type Workspace = z.infer<typeof Workspace>;

/** The digest that a decision binds the workspace by (IN-1). */
export function workspaceDigest(workspace: Workspace | undefined): Digest {
  const { cwd, head, dirty, task, agent } = workspace ?? {};
  return digestOfList([cwd ?? null, head ?? null, dirty ?? null, task ?? null, agent ?? null]);
}

/** An image of a feedback: stored as a blob, named by digest (WR-31). */
export const ImageRef = z.strictObject({
  digest: Digest,
  mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
});
export type ImageRef = z.infer<typeof ImageRef>;

/** What an approval does with the context of the planning session (PM-73, PM-75). */
export const ContextChoice = z.enum(['keep', 'clear']);
export type ContextChoice = z.infer<typeof ContextChoice>;

/** The parts of a decision that are signed by digest (IN-1). */
export interface DecisionContent {
  feedback?: string | undefined;
  images?: ImageRef[] | undefined;
  notices: string[];
}

/** The digest of feedback, images and notices that a decision's signature holds (IN-1). */
export function contentDigest({ feedback, images, notices }: DecisionContent): Digest {
  return digestOfList([
    feedback ?? null,
    (images ?? []).map(({ digest, mediaType }) => [digest, mediaType]),
    notices,
  ]);
}

/** A decision that stands, as records and messages carry it (WR-27). */
export const Decision = z.looseObject({
  outcome: DecisionOutcome,
  permissionMode: WorkingMode.optional(),
  scope: Scope.optional(),
  context: ContextChoice.optional(),
  feedback: z.string().optional(),
  images: z.array(ImageRef).optional(),
  planEdited: z.boolean(),
  approvedPlanDigest: Digest,
  decidedBy: Principal,
  decidedAt: Timestamp,
  notices: z.array(z.string()),
  /** The compact JWS of IN-1, byte for byte as the lead made it. */
  signature: z.string(),
});
export type Decision = z.infer<typeof Decision>;

/** One lead's vote (TM-31); today one vote decides. */
export const Vote = z.looseObject({
  by: Principal,
  outcome: DecisionOutcome,
  permissionMode: WorkingMode.optional(),
  at: Timestamp,
});
export type Vote = z.infer<typeof Vote>;

/** The state of the work under an approval (WR-27). */
export const Work = z.looseObject({
  state: WorkState,
  /** Rises with each claim; what an earlier epoch did is void (TM-16). */
  epoch: z.number().int().nonnegative(),
  claimedAt: Timestamp.optional(),
  appliedAt: Timestamp.optional(),
  effectiveMode: PermissionMode.optional(),
  settledAt: Timestamp.optional(),
  reason: z.string().optional(),
});
export type Work = z.infer<typeof Work>;

/** A request as every route answers it (WR-27). */
export const RequestRecord = z.looseObject({
  v: z.number().int(),
  requestId: RequestId,
  team: TeamName,
  teammate: TeammateName,
  owner: Principal,
  sessionId: SessionId,
  revision: z.number().int().positive(),
  supersedes: RequestId.optional(),
  supersededBy: RequestId.optional(),
  state: RequestState,
  work: Work,
  plan: z.looseObject({
    digest: Digest,
    path: z.string(),
    /** JavaScript string length. */
    chars: z.number().int().nonnegative(),
    /** Bytes of UTF-8. */
    bytes: z.number().int().nonnegative(),
  }),
  prePlanMode: PermissionMode,
  executionTarget: ExecutionTarget,
  submittedAt: Timestamp,
  deadline: Timestamp,
  labels: Labels,
  usage: Usage.optional(),
  scope: Scope.optional(),
  summary: z.string().optional(),
  workspace: Workspace.optional(),
  policyDigest: Digest,
  votes: z.array(Vote),
  delivery: z.looseObject({ deliveredAt: Timestamp.optional() }),
  decision: Decision.optional(),
});
export type RequestRecord = z.infer<typeof RequestRecord>;

/** A record with its plan, as one request is shown (WR-27). */
export const RequestWithPlan = RequestRecord.extend({ planContent: z.string() });
export type RequestWithPlan = z.infer<typeof RequestWithPlan>;

const PlanText = z.string().max(maxPlanBytes);

/**
 * A submission: the message of WR-10, of which a client must send the ID, session, path and text. What else it
 * says must be true (`from`, `team`, `planDigest`); unknown fields are ignored. `deadline` is a time, `deadlineMs` a
 * wait from now; without either it is {@link defaultDeadlineMs}.
 */
export const Submission = z.looseObject({
  type: z.literal('plan_approval_request').optional(),
  requestId: RequestId,
  from: TeammateName.optional(),
  team: TeamName.optional(),
  timestamp: Timestamp.optional(),
  planFilePath: z.string().min(1).max(4096),
  planContent: PlanText,
  planDigest: Digest.optional(),
  sessionId: SessionId,
  revision: z.number().int().min(1).max(1_000_000).default(1),
  supersedes: RequestId.optional(),
  prePlanMode: PermissionMode.default('default'),
  executionTarget: ExecutionTarget.default('local'),
  deadline: Timestamp.optional(),
  deadlineMs: z.number().int().min(deadlineBoundsMs.min).max(deadlineBoundsMs.max).optional(),
  labels: Labels.default({}),
  usage: Usage.refine(
    (usage) => JSON.stringify(usage).length <= maxUsageChars,
    `must be at most ${maxUsageChars} characters of JSON`,
  ).optional(),
  summary: z.string().max(1000).optional(),
  scope: Scope.optional(),
  workspace: Workspace.optional(),
});
export type Submission = z.infer<typeof Submission>;

/** What a lead sends to decide (2.4). `planDigest` is the digest of what was read, `planContent` an edited plan. */
export const DecisionBody = z.strictObject({
  outcome: DecisionOutcome,
  planDigest: Digest,
  permissionMode: GrantedMode.optional(),
  context: ContextChoice.optional(),
  feedback: z.string().max(maxFeedbackChars).optional(),
  images: z.array(ImageRef).max(10).optional(),
  planContent: PlanText.optional(),
  scope: Scope.optional(),
});
export type DecisionBody = z.infer<typeof DecisionBody>;

/** A page of requests, newest first (WR-33). */
export const RequestPage = z.looseObject({
  requests: z.array(RequestRecord),
  /** Where the next page starts; absent on the last one. */
  nextCursor: z.string().optional(),
});
export type RequestPage = z.infer<typeof RequestPage>;

/** What a conflict names as standing: the decision with its request and state, or only those. */
export const CurrentOutcome = z.looseObject({
  requestId: RequestId,
  state: RequestState,
  outcome: Outcome.optional(),
});
export type CurrentOutcome = z.infer<typeof CurrentOutcome>;

/** What stands for a record, for the `current` of a conflict. */
export function currentOf(record: RequestRecord): Record<string, unknown> {
  const { requestId, state, supersededBy, plan, decision } = record;
  return {
    requestId,
    state,
    planDigest: plan.digest,
    ...(state !== 'pending' && { outcome: state }),
    ...(supersededBy && { supersededBy }),
    ...decision,
  };
}
