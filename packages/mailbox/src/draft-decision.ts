import { randomUUID } from 'node:crypto';
import {
  contentDigest,
  type Decision,
  type DecisionClaims,
  issuer,
  type RequestRecord,
  type Scope,
  toTimestamp,
  workspaceDigest,
} from '@placet/protocol';
import type { DecideInput } from './decide-input.ts';
import type { CommitCommand } from './decision-store.ts';
import { nativeDigestOf } from './native-digest.ts';
import { signDecision } from './signing/decision-signing.ts';
import type { Signer } from './signing/signer.ts';

/** A signed decision that is not committed yet. */
export type DecisionDraft = Pick<
  CommitCommand,
  'decision' | 'jti' | 'decidedAtMs' | 'notAfterMs' | 'editedPlan'
>;

/** What of the input no decision can say, if there is something. Asked before anything is reserved. */
export function findContradiction(input: DecideInput): string | undefined {
  const { team, record, outcome, permissionMode, planDigest } = input;
  if (team !== record.team) return 'the request is of another team';
  if (outcome === 'approved' && permissionMode === null) return 'an approval grants a permission mode';
  if (outcome === 'rejected' && approvedDigestOf(input) !== planDigest) return 'a rejection edits no plan';
  return undefined;
}

/** Signs what a lead decided, bound to the request as it was read (IN-1). */
export async function draftDecision(
  signer: Signer,
  input: DecideInput,
  decidedAtMs: number,
): Promise<DecisionDraft> {
  const { record, team, planDigest, outcome, context, decidedBy, notices, scope, images } = input;
  const { requestId, teammate, sessionId, revision, workspace } = record;
  const approvedPlanDigest = approvedDigestOf(input);
  const planEdited = approvedPlanDigest !== planDigest;
  const notAfterMs = decidedAtMs + input.notAfterMs;
  const jti = randomUUID();
  const shared = {
    outcome,
    context,
    planEdited,
    approvedPlanDigest,
    decidedBy,
    decidedAt: toTimestamp(decidedAtMs),
  };
  const content = { feedback: feedbackOf(input), images, notices };
  const permissionMode = modeOf(input);
  const claims: DecisionClaims = {
    v: 1,
    iss: issuer,
    jti,
    requestId,
    team,
    teammate,
    sessionId,
    revision,
    planDigest,
    ...shared,
    permissionMode,
    ...(scope && { scope }),
    workspaceDigest: workspaceDigest(workspace),
    contentDigest: contentDigest(content),
    notAfter: toTimestamp(notAfterMs),
    policyDigest: input.policyDigest,
  };
  const signature = await signDecision(signer, claims);
  const decision: Decision = {
    ...shared,
    ...(permissionMode && { permissionMode }),
    ...(scope && { scope }),
    ...(content.feedback !== undefined && { feedback: content.feedback }),
    ...(images && { images }),
    notices,
    signature,
  };
  const { approvedPlan } = input;
  const editedPlan = planEdited && approvedPlan && { digest: approvedPlanDigest, bytes: approvedPlan };
  return { decision, jti, decidedAtMs, notAfterMs, ...(editedPlan && { editedPlan }) };
}

/** Whether the decision that stands is this very one, so that deciding again is a repetition (WR-21). */
export function isSameDecision(input: DecideInput, { plan, decision }: RequestRecord): boolean {
  return (
    decision !== undefined &&
    decision.decidedBy === input.decidedBy &&
    decision.outcome === input.outcome &&
    (decision.permissionMode ?? null) === modeOf(input) &&
    decision.context === input.context &&
    plan.digest === input.planDigest &&
    decision.approvedPlanDigest === approvedDigestOf(input) &&
    scopeText(decision.scope) === scopeText(input.scope) &&
    contentDigest({ ...decision, notices: [] }) ===
      contentDigest({ feedback: feedbackOf(input), images: input.images, notices: [] })
  );
}

function approvedDigestOf({ approvedPlan, planDigest }: DecideInput) {
  return approvedPlan ? nativeDigestOf(approvedPlan) : planDigest;
}

function modeOf({ outcome, permissionMode }: DecideInput) {
  return outcome === 'rejected' ? null : permissionMode;
}

/** An empty text says as much as none. */
function feedbackOf({ feedback }: DecideInput): string | undefined {
  return feedback || undefined;
}

function scopeText(scope: Scope | undefined): string | undefined {
  return scope && JSON.stringify([scope.write, scope.run, scope.tools]);
}
