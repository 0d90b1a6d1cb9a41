import type { WorkingMode } from '@placet/protocol';
import type { StoredPlan } from '../plan/plan-storage.ts';
import { isEmptyPlan, type SessionKind } from './submission.ts';

/** The line before a plan that was approved as it stood; existing clients parse it (PM-74). */
export const approvedPlanMarker = '## Approved Plan:';
/** The line before a plan that the reviewer changed; existing clients parse it (PM-74). */
export const editedPlanMarker = '## Approved Plan (edited by user):';

/** What every approval says of itself (PM-15). */
export const approvesNothing = 'This is no standing approval for any tool: each call is judged as ever.';

/** What happened to a submission, as far as the model must tell the cases apart (PM-74, PM-76). */
export type SubmissionOutcome =
  | { kind: 'approved'; mode: WorkingMode; plan: string; planEdited: boolean; feedback?: string | undefined }
  | { kind: 'approved_empty'; mode: WorkingMode; feedback?: string | undefined }
  | { kind: 'agent_approved' }
  | { kind: 'waiting'; requestId: string; planFilePath: string }
  | { kind: 'rejected'; plan: string; feedback?: string | undefined; images?: number }
  | { kind: 'not_submitted'; planFilePath: string };

/** The text that the model is given for an outcome. */
export function outcomeText(outcome: SubmissionOutcome): string {
  switch (outcome.kind) {
    case 'approved':
      return lines(
        outcome.planEdited
          ? `The plan was approved and edited by the reviewer. Carry out the edited plan below, not the one you submitted. The permission mode is now ${outcome.mode}.`
          : `The plan was approved. You can begin with it. The permission mode is now ${outcome.mode}.`,
        approvesNothing,
        outcome.feedback && `The reviewer adds:\n${outcome.feedback}`,
        `${outcome.planEdited ? editedPlanMarker : approvedPlanMarker}\n${outcome.plan}`,
      );
    case 'approved_empty':
      return lines(
        `You may proceed. The permission mode is now ${outcome.mode}.`,
        approvesNothing,
        outcome.feedback && `The reviewer adds:\n${outcome.feedback}`,
      );
    case 'agent_approved':
      return 'The plan was approved. Finish your planning turn and report back; there is nothing more to do in it.';
    case 'waiting':
      return lines(
        `The plan was submitted as ${outcome.requestId} and waits for the team lead. Nothing may be changed before the decision.`,
        `Wait for the answer in your inbox; do not ask for it and do not start. The plan is at ${outcome.planFilePath}.`,
      );
    case 'rejected':
      return lines(
        'The plan was rejected. You are still in plan mode and nothing may be changed. Revise the plan and submit it again.',
        outcome.feedback && `What the reviewer says:\n${outcome.feedback}`,
        outcome.images ? `The reviewer attached ${outcome.images} image(s).` : undefined,
        outcome.plan.trim() === '' ? 'There was no plan yet.' : `The rejected plan:\n${outcome.plan}`,
      );
    case 'not_submitted':
      return `plan not submitted: the store does not take it now. The plan stays at ${outcome.planFilePath} and is submitted again. Nothing may be changed.`;
  }
}

/** The outcome of an approval, by what the session is and whether there is a plan to quote (PM-71, PM-74). */
export function approvalOutcome(from: {
  kind: SessionKind;
  mode: WorkingMode;
  plan: StoredPlan | undefined;
  planEdited: boolean;
  feedback?: string | undefined;
}): SubmissionOutcome {
  const { kind, mode, plan, planEdited, feedback } = from;
  if (kind === 'agent') return { kind: 'agent_approved' };
  if (!plan || isEmptyPlan(plan)) return { kind: 'approved_empty', mode, feedback };
  return { kind: 'approved', mode, plan: plan.text, planEdited, feedback };
}

function lines(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join('\n\n');
}
