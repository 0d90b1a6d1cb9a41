import {
  type DecisionOutcome,
  type ErrorCode,
  type ImageRef,
  maxApprovablePlanChars,
  maxPlanBytes,
  type PermissionMode,
  unsafeText,
} from '@placet/protocol';
import type { StoredPlan } from '../plan/plan-storage.ts';

/** A rejection carries at most this many images (PM-76). */
export const maxFeedbackImages = 10;

/** Why something cannot be submitted or applied, as a code of the catalogue and a sentence. */
export interface SubmissionFault {
  kind: 'refused';
  code: ErrorCode;
  detail: string;
}

/** What becomes of a plan that a session wants to submit. */
export type SubmissionVerdict =
  /** It goes to the lead. */
  | { kind: 'submit'; plan: StoredPlan; approvable: boolean }
  /** Outside plan mode it is kept as a draft: no request, no change of mode (PM-70). */
  | { kind: 'draft' }
  /** A main thread may leave on an empty plan; the result quotes none (PM-71). */
  | { kind: 'empty' }
  | SubmissionFault;

/** Judges a submission by the rules of PM-70 to PM-72; asks nobody and stores nothing. */
export function judgeSubmission(from: {
  mode: PermissionMode;
  kind: 'main' | 'teammate';
  plan: StoredPlan | undefined;
}): SubmissionVerdict {
  const { mode, kind, plan } = from;
  if (mode !== 'plan') return { kind: 'draft' };
  if (!plan || isEmptyPlan(plan)) {
    if (kind === 'main') return { kind: 'empty' };
    return {
      kind: 'refused',
      code: 'plan_required',
      detail: 'there is no plan; write it to the plan file first',
    };
  }
  return { kind: 'submit', plan, approvable: isApprovable(plan.text) };
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
 * Holds the plan of an edited approval to what a submitted one is held to (PM-79): not empty, not too large to show
 * or to store, no text that could not be sent.
 */
export function faultOfApprovedPlan(plan: StoredPlan): SubmissionFault | undefined {
  if (isEmptyPlan(plan))
    return { kind: 'refused', code: 'plan_required', detail: 'the approved plan is empty' };
  if (!isApprovable(plan.text))
    return {
      kind: 'refused',
      code: 'plan_too_large_to_approve',
      detail: 'the approved plan is too large to be shown in full',
    };
  if (plan.bytes.length > maxPlanBytes)
    return { kind: 'refused', code: 'payload_too_large', detail: 'the approved plan has over 1 MiB' };
  const unsafe = unsafeText(plan.text);
  return unsafe
    ? { kind: 'refused', code: 'validation_failed', detail: `the approved plan ${unsafe}` }
    : undefined;
}

/** A rejection without text or image says nothing to revise by, and is refused (PM-76). */
export function faultOfRejection(from: {
  outcome: DecisionOutcome;
  feedback?: string | undefined;
  images?: readonly ImageRef[] | undefined;
}): SubmissionFault | undefined {
  const images = from.images?.length ?? 0;
  if (images > maxFeedbackImages)
    return {
      kind: 'refused',
      code: 'payload_too_large',
      detail: `${images} images; ${maxFeedbackImages} are allowed`,
    };
  if (from.outcome === 'rejected' && !from.feedback?.trim() && images === 0)
    return {
      kind: 'refused',
      code: 'feedback_required',
      detail: 'a rejection needs feedback text or an image',
    };
  return undefined;
}
