import {
  maxApprovablePlanChars,
  maxPlanBytes,
  type PermissionMode,
  type StandingApproval,
  unsafeText,
} from '@placet/protocol';
import { type StoredPlan, storedPlan } from '../plan/plan-storage.ts';
import { type Refused, refuse } from '../posture/refused.ts';

/** What a session is: a conversation's main thread, an agent under one, or a team's worker whose lead decides. */
export type SessionKind = 'main' | 'agent' | 'teammate';

/** The tools that submit a plan: Placet's own, and the one that existing clients have. */
export type SubmissionTool = 'plan_submit' | 'ExitPlanMode';

/** What becomes of a plan that a session wants to submit. */
export type SubmissionVerdict =
  /** It goes to whoever decides. */
  | { kind: 'submit'; plan: StoredPlan; approvable: boolean }
  /** Outside plan mode it is kept as a draft: no request, no change of mode (PM-70). */
  | { kind: 'draft'; plan: StoredPlan | undefined }
  /** A main thread may leave on an empty plan; the result quotes none (PM-71). */
  | { kind: 'empty'; plan: StoredPlan }
  | Refused;

/** Judges a submission by the rules of PM-70 to PM-72; asks nobody and stores nothing. */
export function judgeSubmission(from: {
  mode: PermissionMode;
  kind: SessionKind;
  plan: StoredPlan | undefined;
  /** `plan_submit` unless set. */
  tool?: SubmissionTool;
  /** What the session works under, to be named where it submits outside plan mode. */
  approval?: StandingApproval | undefined;
}): SubmissionVerdict {
  const { mode, kind, plan, tool = 'plan_submit', approval } = from;
  if (mode !== 'plan') return tool === 'ExitPlanMode' ? exitOutsidePlan(approval) : { kind: 'draft', plan };
  if (!plan || isEmptyPlan(plan)) {
    if (kind === 'main') return { kind: 'empty', plan: plan ?? storedPlan('') };
    return refuse('plan_required', 'there is no plan; write it to the plan file first');
  }
  return { kind: 'submit', plan, approvable: isApprovable(plan.text) };
}

function exitOutsidePlan(approval: StandingApproval | undefined): Refused {
  const standing = approval && (approval.requestId ?? `of the plan ${approval.planDigest}`);
  return refuse(
    'validation_failed',
    standing === undefined
      ? 'the session is not in plan mode; enter it first, then submit the plan'
      : `the session is not in plan mode: the approval ${standing} stands; go on under it`,
  );
}

/** Whether there is nothing to approve: nothing but white space. */
export function isEmptyPlan(plan: StoredPlan): boolean {
  return plan.text.trim() === '';
}

/** Whether a plan can be shown in full, without which it cannot be approved (PM-72). JavaScript string length. */
export function isApprovable(text: string): boolean {
  return text.length <= maxApprovablePlanChars;
}

/**
 * Holds the plan of an approval to what a submitted one is held to (PM-79): not empty but for a main thread, not too
 * large to show or to store, no text that could not be sent.
 */
export function faultOfApprovedPlan(plan: StoredPlan, kind: SessionKind = 'teammate'): Refused | undefined {
  if (isEmptyPlan(plan) && kind !== 'main') return refuse('plan_required', 'the approved plan is empty');
  if (!isApprovable(plan.text))
    return refuse('plan_too_large_to_approve', 'the approved plan is too large to be shown in full');
  if (plan.bytes.length > maxPlanBytes)
    return refuse('payload_too_large', 'the approved plan has over 1 MiB');
  const unsafe = unsafeText(plan.text);
  return unsafe ? refuse('validation_failed', `the approved plan ${unsafe}`) : undefined;
}
