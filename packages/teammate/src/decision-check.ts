import { type OwnRequest, ownRequestOf, requireApproved } from '@placet/mailbox';
import { faultOfApprovedPlan, type PlanFile, type StoredPlan, storedPlan } from '@placet/plan-mode';
import type { DecisionClaims } from '@placet/protocol';
import { exceeds, type RequestRecord, type WorkingMode } from '@placet/protocol';
import { ceilingsOf, leaseOf, type SessionRun } from './session-run.ts';

/** What a decision is worth, once it was looked at. */
export type CheckedDecision =
  | {
      kind: 'approved';
      claims: DecisionClaims;
      mode: WorkingMode;
      plan: StoredPlan;
      feedback: string | undefined;
    }
  | { kind: 'rejected'; feedback: string; images: number }
  | { kind: 'teleport' }
  /** It opens nothing (IN-2); `code` for the alarm. */
  | { kind: 'void'; code: 'decision_invalid' | 'mode_not_allowed'; detail: string }
  /** Whether it is genuine cannot be known now (IN-7). */
  | { kind: 'later'; detail: string };

/**
 * Reads the decision of a request and believes nothing of it that was not signed for exactly this request (IN-2). What
 * the request is, this teammate's own journal says; only where that knows nothing of the session does the record (TM-17).
 */
export async function checkDecision(
  run: SessionRun,
  planFile: PlanFile,
  request: RequestRecord,
): Promise<CheckedDecision> {
  const { verifier, journal, clock } = run.parts;
  const plan = await approvedPlanOf(run, planFile, request);
  const verified = await verifier.verify({
    record: request,
    own: await ownRequest(run, request),
    approvedPlan: plan?.bytes,
    nowMs: clock.now(),
    claimedBefore: request.work.state !== 'none',
  });
  if (verified.kind === 'invalid') {
    if (verified.retryable) return { kind: 'later', detail: verified.detail };
    return { kind: 'void', code: 'decision_invalid', detail: `${verified.reason}: ${verified.detail}` };
  }
  const { outcome } = verified.claims;
  if (outcome === 'teleport') return { kind: 'teleport' };
  if (outcome === 'rejected')
    return {
      kind: 'rejected',
      feedback: verified.decision.feedback ?? '',
      images: verified.decision.images?.length ?? 0,
    };
  const approved = requireApproved(verified);
  if (approved.kind === 'invalid' || !plan)
    return { kind: 'void', code: 'decision_invalid', detail: 'it is no approval' };
  // An epoch that is not later than the one in which work was begun here: the store was rolled back.
  const appliedEpoch = await journal.appliedEpoch(approved.jti);
  if (appliedEpoch !== undefined && (leaseOf(run).epoch <= appliedEpoch || request.work.epoch < appliedEpoch))
    return {
      kind: 'void',
      code: 'decision_invalid',
      detail: `replayed: work was begun here in epoch ${appliedEpoch}`,
    };
  const fault = faultOfApprovedPlan(plan);
  if (fault) return { kind: 'void', code: 'decision_invalid', detail: fault.detail };
  const ceiling = ceilingsOf(run.parts, run.task.job).find((limit) =>
    exceeds(approved.permissionMode, limit),
  );
  if (ceiling)
    return {
      kind: 'void',
      code: 'mode_not_allowed',
      detail: `${approved.permissionMode} was granted, ${ceiling} is the ceiling here`,
    };
  return {
    kind: 'approved',
    claims: approved.claims,
    mode: approved.permissionMode,
    plan,
    feedback: approved.decision.feedback,
  };
}

async function ownRequest(run: SessionRun, request: RequestRecord): Promise<OwnRequest> {
  const { journal, port } = run.parts;
  const intent = await journal.acknowledgedIntent(run.sessionId);
  if (intent?.requestId !== request.requestId) return ownRequestOf(request); // the verifier asks the journal itself
  return {
    requestId: intent.requestId,
    team: port.team,
    teammate: port.teammate,
    sessionId: run.sessionId,
    revision: intent.revision,
    planDigest: intent.planDigest,
    workspaceDigest: intent.workspaceDigest,
  };
}

/** The plan that the decision approved, as the store has it; the plan file where that is the one. */
async function approvedPlanOf(
  run: SessionRun,
  planFile: PlanFile,
  { decision }: RequestRecord,
): Promise<StoredPlan | undefined> {
  if (!decision || decision.outcome === 'rejected') return undefined;
  const { approvedPlanDigest } = decision;
  // A digest says what the plan is, wherever it was read.
  if (run.expected.plan?.digest === approvedPlanDigest) return run.expected.plan;
  const bytes = await run.parts.port.getPlan(approvedPlanDigest);
  if (bytes) return planOfBytes(bytes);
  // A plan file that cannot be read is as good as none.
  const own = await planFile.load().catch(() => undefined);
  return own?.digest === approvedPlanDigest ? own : undefined;
}

/** A plan as the store answers it. */
export function planOfBytes(bytes: Uint8Array): StoredPlan {
  return storedPlan(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}
