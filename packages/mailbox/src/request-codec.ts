import {
  Decision,
  type Digest,
  type ExecutionTarget,
  Labels,
  PermissionMode,
  PlacetError,
  type RequestRecord,
  RequestState,
  recordVersion,
  Scope,
  type Submission,
  toTimestamp,
  Usage,
  type Vote,
  type Work,
  WorkState,
  type Workspace,
} from '@placet/protocol';
import { z } from 'zod';
import { packDigest, unpackDigest, unpackRequestId } from './packed-names.ts';

/** As `packDigest` writes it. */
const packed = z.string().regex(/^[\w-]{43}$/);
const atMs = z.coerce.number().int();

/** A workspace with short names. */
const StoredWorkspace = z.object({
  c: z.string(),
  h: z.string().optional(),
  d: packed.optional(),
  t: packed.optional(),
  a: z.string().optional(),
});

/**
 * The immutable part of a request as Redis holds it (ST-3): names are short and defaults left out, because a hundred
 * thousand of them may wait. `v` and `d` come first, `n`, `at` and `dl` last: scripts find them there.
 */
const StoredRequest = z.object({
  v: z.number().int(),
  /** Digest of the plan. */
  d: packed,
  /** Owner; `teammate:<name>` where it is left out. */
  o: z.string().optional(),
  /** Session. */
  s: z.string(),
  /** Path and characters of the plan, and its bytes where they are not as many. */
  p: z.string(),
  c: z.number().int(),
  b: z.number().int().optional(),
  /** Digest of the policy. */
  q: packed,
  /** Revision; 1 where it is left out. */
  r: z.number().int().default(1),
  /** What the submission says it supersedes. */
  u: z.string().optional(),
  /** Mode before planning; `default` where it is left out. */
  m: PermissionMode.default('default'),
  /** Whether it is to be executed remotely. */
  x: z.literal(1).optional(),
  l: Labels.default({}),
  us: Usage.optional(),
  sc: Scope.optional(),
  /** Summary. */
  y: z.string().optional(),
  w: StoredWorkspace.optional(),
  /** The pending request that it took the place of. */
  ps: z.string().optional(),
  /** Inbox number, and when it was submitted and is due, in milliseconds since the epoch. */
  n: z.number().int(),
  at: atMs,
  dl: atMs,
});
export type StoredRequest = z.infer<typeof StoredRequest>;

/** The mutable part of a request: a hash, absent while it is pending and untouched. Times in milliseconds. */
export const RequestFields = z.object({
  v: z.coerce.number().int().default(recordVersion),
  /** State. */
  st: RequestState.default('pending'),
  /** When it ended. */
  ea: atMs.optional(),
  /** What took its place, as {@link packRequestId} writes it. */
  sb: z.string().optional(),
  /** When the decision was delivered. */
  dl: atMs.optional(),
  /** Work: state, epoch, when claimed, applied and settled, mode in effect, reason. */
  ws: WorkState.default('none'),
  we: z.coerce.number().int().default(0),
  wc: atMs.optional(),
  wa: atMs.optional(),
  wt: atMs.optional(),
  wm: PermissionMode.optional(),
  wr: z.string().optional(),
  /** Until when an approval may be claimed. */
  na: atMs.optional(),
  /** Digest of the plan as approved, where the lead edited it. */
  ad: packed.optional(),
});
export type RequestFields = z.infer<typeof RequestFields>;

/** Everything that Redis holds of one request. */
export interface StoredParts {
  team: string;
  teammate: string;
  requestId: string;
  request: StoredRequest;
  fields: RequestFields;
  decision: Decision | undefined;
}

/** What {@link encodeRequest} writes beside the submission. */
export interface SubmissionFacts {
  teammate: string;
  owner: string;
  planDigest: Digest;
  planBytes: number;
  policyDigest: Digest;
}

/** The immutable part of a request without what the script splices in. */
export type RequestDraft = Omit<StoredRequest, 'ps' | 'n' | 'at' | 'dl'>;

/** The hash of a request that nobody has touched. */
export const untouchedFields: RequestFields = RequestFields.parse({});

/** The immutable part of a request as it is submitted. */
export function draftRequest(submission: Submission, facts: SubmissionFacts): RequestDraft {
  const { workspace } = submission;
  const chars = submission.planContent.length;
  return {
    v: recordVersion,
    d: packDigest(facts.planDigest),
    o: facts.owner === defaultOwner(facts.teammate) ? undefined : facts.owner,
    s: submission.sessionId,
    p: submission.planFilePath,
    c: chars,
    b: facts.planBytes === chars ? undefined : facts.planBytes,
    q: packDigest(facts.policyDigest),
    r: submission.revision,
    u: submission.supersedes,
    m: submission.prePlanMode,
    x: submission.executionTarget === 'remote' ? 1 : undefined,
    l: submission.labels,
    us: submission.usage,
    sc: submission.scope,
    y: submission.summary,
    w: workspace && {
      c: workspace.cwd,
      h: workspace.head,
      d: workspace.dirty && packDigest(workspace.dirty),
      t: workspace.task && packDigest(workspace.task),
      a: workspace.agent,
    },
  };
}

/** Writes a draft; what has its default is left out. */
export function encodeRequest(draft: RequestDraft): string {
  return JSON.stringify({
    ...draft,
    r: draft.r === 1 ? undefined : draft.r,
    m: draft.m === 'default' ? undefined : draft.m,
    l: Object.keys(draft.l).length > 0 ? draft.l : undefined,
  });
}

/** @throws PlacetError `too_new`; `internal` when the record is not one of ours */
export function parseRequest(requestId: string, text: string): StoredRequest {
  const value = readJson(requestId, text);
  const version = z.object({ v: z.number() }).safeParse(value);
  if (version.success && version.data.v > recordVersion) {
    throw new PlacetError(
      'too_new',
      `request ${requestId} was written by a newer Placet; upgrade this process`,
    );
  }
  return parsePart(StoredRequest, requestId, value);
}

/** @throws PlacetError `internal` when the hash is not one of ours */
export function parseFields(requestId: string, fields: unknown): RequestFields {
  return parsePart(RequestFields, requestId, fields);
}

/** @throws PlacetError `internal` when the decision is not one of ours */
export function parseDecision(requestId: string, text: string): Decision {
  return parsePart(Decision, requestId, readJson(requestId, text));
}

/** What a submission must say again to be a repetition (WR-23). */
export function isRepetition(stored: StoredRequest, submission: Submission, planDigest: Digest): boolean {
  return (
    stored.s === submission.sessionId &&
    stored.d === packDigest(planDigest) &&
    stored.r === submission.revision &&
    stored.u === submission.supersedes &&
    targetOf(stored) === submission.executionTarget
  );
}

/** The record that every route answers (WR-27). */
export function toRecord({
  team,
  teammate,
  requestId,
  request,
  fields,
  decision,
}: StoredParts): RequestRecord {
  const supersedes = request.u ?? request.ps;
  return {
    v: recordVersion,
    requestId,
    team,
    teammate,
    owner: request.o ?? defaultOwner(teammate),
    sessionId: request.s,
    revision: request.r,
    ...(supersedes !== undefined && { supersedes }),
    ...(fields.sb !== undefined && { supersededBy: unpackRequestId(team, teammate, fields.sb) }),
    state: fields.st,
    work: workOf(fields),
    plan: {
      digest: unpackDigest(request.d),
      path: request.p,
      chars: request.c,
      bytes: request.b ?? request.c,
    },
    prePlanMode: request.m,
    executionTarget: targetOf(request),
    submittedAt: toTimestamp(request.at),
    deadline: toTimestamp(request.dl),
    labels: request.l,
    ...(request.us && { usage: request.us }),
    ...(request.sc && { scope: request.sc }),
    ...(request.y !== undefined && { summary: request.y }),
    ...(request.w && { workspace: workspaceOf(request.w) }),
    policyDigest: unpackDigest(request.q),
    votes: decision ? [voteOf(decision)] : [],
    delivery: { ...(fields.dl !== undefined && { deliveredAt: toTimestamp(fields.dl) }) },
    ...(decision && { decision }),
  };
}

/** Who owns a teammate that no one else does (WR-43). */
function defaultOwner(teammate: string): string {
  return `teammate:${teammate}`;
}

function targetOf(request: StoredRequest): ExecutionTarget {
  return request.x ? 'remote' : 'local';
}

function workOf(fields: RequestFields): Work {
  return {
    state: fields.ws,
    epoch: fields.we,
    ...(fields.wc !== undefined && { claimedAt: toTimestamp(fields.wc) }),
    ...(fields.wa !== undefined && { appliedAt: toTimestamp(fields.wa) }),
    ...(fields.wm && { effectiveMode: fields.wm }),
    ...(fields.wt !== undefined && { settledAt: toTimestamp(fields.wt) }),
    ...(fields.wr !== undefined && { reason: fields.wr }),
  };
}

function workspaceOf(stored: z.infer<typeof StoredWorkspace>): Workspace {
  return {
    cwd: stored.c,
    ...(stored.h !== undefined && { head: stored.h }),
    ...(stored.d && { dirty: unpackDigest(stored.d) }),
    ...(stored.t && { task: unpackDigest(stored.t) }),
    ...(stored.a !== undefined && { agent: stored.a }),
  };
}

/** One vote decides today (TM-31): the decision is it. */
export function voteOf({ decidedBy, outcome, permissionMode, decidedAt }: Decision): Vote {
  return { by: decidedBy, outcome, ...(permissionMode && { permissionMode }), at: decidedAt };
}

function readJson(requestId: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PlacetError('internal', `what is stored of request ${requestId} is not JSON`, { cause });
  }
}

function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  requestId: string,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new PlacetError('internal', `what is stored of request ${requestId} is not of ours: ${path}`);
}
