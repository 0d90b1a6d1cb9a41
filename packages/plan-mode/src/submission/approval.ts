import type { ContextChoice, Digest, GrantedMode } from '@placet/protocol';
import { type StoredPlan, storedPlan } from '../plan/plan-storage.ts';
import { type Refused, refuse } from '../posture/refused.ts';
import { faultOfFeedback } from './rejection.ts';
import { faultOfApprovedPlan, isEmptyPlan, type SessionKind } from './submission.ts';

/** An approval that is given at the session itself (PM-73). */
export interface Approval {
  /** The mode for the work; `restore`, the one from before planning, unless set. */
  mode?: GrantedMode;
  /** What becomes of the planning context; `keep` unless set. */
  context?: ContextChoice;
  /** The digest of the plan that was read. The one that was submitted, where there is one, unless set. */
  planDigest?: Digest;
  /** The plan as approved, where the reviewer edited it. */
  plan?: string;
  feedback?: string;
}

/** What an approval is about, once it is found good. */
export interface JudgedApproval {
  kind: 'approvable';
  /** The plan as approved; an empty one for none. */
  plan: StoredPlan;
  planEdited: boolean;
}

/** Judges an approval by PM-71, PM-72, PM-75 and PM-79; changes nothing. */
export function judgeApproval(from: {
  approval: Approval;
  stored: StoredPlan | undefined;
  /** The digest of the plan that was submitted, where one waits. */
  submitted: Digest | undefined;
  kind: SessionKind;
  /** Whether there is a place to keep an edited plan in. */
  canStore: boolean;
  /** What may be chosen: a new context (PM-75), the bypass mode. */
  offers: { clear: boolean; bypass: boolean };
}): JudgedApproval | Refused {
  const { approval, submitted, kind, offers } = from;
  const stored = from.stored ?? storedPlan('');
  for (const digest of [approval.planDigest, submitted])
    if (digest !== undefined && digest !== stored.digest)
      return refuse('stale_plan', 'the plan changed since it was read or submitted; read it again');
  const edited = approval.plan === undefined ? stored : storedPlan(approval.plan);
  const planEdited = edited.text !== stored.text;
  const plan = planEdited ? edited : stored;
  if (planEdited && !from.canStore)
    return refuse('validation_failed', 'this session keeps no plan that could be edited');
  const fault = faultOfApprovedPlan(plan, kind) ?? faultOfFeedback(approval.feedback);
  if (fault) return fault;
  if (approval.mode === 'bypassPermissions' && !offers.bypass)
    return refuse('mode_not_allowed', 'bypassPermissions is not available in this session');
  if (approval.context === 'clear') {
    if (!offers.clear)
      return refuse(
        'validation_failed',
        'a new context is not offered here: showClearContextOnPlanAccept is off',
      );
    if (isEmptyPlan(plan))
      return refuse('plan_required', 'a new context begins with the plan, and there is none');
  }
  return { kind: 'approvable', plan, planEdited };
}
