import {
  type Decision,
  type DecisionClaims,
  type Digest,
  type RequestId,
  type RequestRecord,
  type SessionId,
  type WorkingMode,
  workspaceDigest,
} from '@placet/protocol';
import type { SignatureFault } from './signed-object.ts';

/** What a teammate knows of its own request: from its journal, else from the record ({@link ownRequestOf}). */
export interface OwnRequest {
  requestId: RequestId;
  team: string;
  teammate: string;
  sessionId: SessionId;
  revision: number;
  planDigest: Digest;
  workspaceDigest: Digest;
}

/** What a teammate's journal says (TM-17), so that a store that was rolled back cannot replay an approval. */
export interface DecisionJournal {
  /** The last request submitted for the session; undefined where the journal does not know the session. */
  lastIntent(sessionId: SessionId): Promise<RequestId | undefined>;
  /** How far this teammate went under a decision. */
  usedAs(jti: string): Promise<'unseen' | 'applied' | 'settled'>;
}

/** What `DecisionVerifier.verify` looks at. */
export interface VerifyInput {
  record: RequestRecord;
  own: OwnRequest;
  /** The bytes of the plan as approved. Needed for everything but a rejection. */
  approvedPlan: Uint8Array | undefined;
  nowMs: number;
  /** Whether work under this decision was claimed before; `notAfter` binds only the first claim (WR-28). */
  claimedBefore: boolean;
}

/** Why a decision is not believed. */
export type InvalidReason =
  | SignatureFault
  | 'no_decision'
  /** The claims contradict themselves. */
  | 'contradiction'
  /** Signed for another request, team, teammate, session, revision, plan or workspace; `detail` names the field. */
  | 'other_request'
  /** The record shows something else than was signed; `detail` names the field. */
  | 'shown_differs'
  /** Feedback, images or notices are not the ones that were signed. */
  | 'content_differs'
  /** The approved plan's bytes are not there or not the ones that were signed. */
  | 'plan_differs'
  /** First claimed after `notAfter`. */
  | 'expired'
  /** The teammate has submitted another request since. */
  | 'not_last_intent'
  /** Work under this decision was already begun or settled, which the store does not say. */
  | 'replayed'
  /** Genuine, but not an approval; only {@link requireApproved} says so. */
  | 'not_approved';

/** A decision that is not believed. `retryable`: it may be later, when the keys can be fetched. */
export interface InvalidDecision {
  kind: 'invalid';
  reason: InvalidReason;
  /** A sentence, without plan text or feedback. */
  detail: string;
  retryable: boolean;
}

/** A decision that is genuine and this request's own. */
export interface ValidDecision {
  kind: 'valid';
  /** Only what was signed; unknown fields of the record's decision are left out. */
  decision: Decision;
  claims: DecisionClaims;
  jti: string;
}

/** A genuine approval: the only thing that opens a gate (WR-14). */
export interface ApprovedDecision extends ValidDecision {
  permissionMode: WorkingMode;
}

/** Narrows a verification to an approval; what is not one is invalid as `not_approved`. */
export function requireApproved(
  verified: ValidDecision | InvalidDecision,
): ApprovedDecision | InvalidDecision {
  if (verified.kind === 'invalid') return verified;
  const { outcome, permissionMode } = verified.claims;
  if (outcome === 'approved' && permissionMode !== null) return { ...verified, permissionMode };
  return { kind: 'invalid', reason: 'not_approved', detail: `the decision is ${outcome}`, retryable: false };
}

/** What the record says of the request, where no journal knows better (TM-17). */
export function ownRequestOf(record: RequestRecord): OwnRequest {
  const { requestId, team, teammate, sessionId, revision, plan, workspace } = record;
  return {
    requestId,
    team,
    teammate,
    sessionId,
    revision,
    planDigest: plan.digest,
    workspaceDigest: workspaceDigest(workspace),
  };
}
