import type { ContextChoice, DecisionClaims, WorkingMode } from '@placet/protocol';
import { type StoredPlan, storedPlan } from '../plan/plan-storage.ts';
import { Turns } from '../plan/turns.ts';
import { type Approval, judgeApproval } from '../submission/approval.ts';
import { approvalOutcome, outcomeText } from '../submission/outcome-text.ts';
import { faultOfRejection, type Rejection } from '../submission/rejection.ts';
import {
  faultOfApprovedPlan,
  judgeSubmission,
  type SessionKind,
  type SubmissionTool,
  type SubmissionVerdict,
} from '../submission/submission.ts';
import { leavePlan } from './permission-context.ts';
import type { PlanKeeper } from './plan-keeper.ts';
import type { Opened, Rejected } from './plan-session-options.ts';
import type { PostureKeeper } from './posture-keeper.ts';
import { type Refused, refuse } from './refused.ts';
import { faultOfDecision } from './session-state.ts';

/** What a verified decision says and its claims do not. */
export interface DecisionContents extends Rejection {
  /** The plan as approved. The stored one unless set. */
  plan?: StoredPlan | undefined;
}

interface PlanDecisionsOptions {
  sessionId: string;
  kind: SessionKind;
  posture: PostureKeeper;
  plan: PlanKeeper;
  offers: { clear: boolean; bypass: boolean };
}

/** What an approval opens the gate for. */
interface Grant {
  mode: WorkingMode | 'restore';
  plan: StoredPlan | undefined;
  planEdited: boolean;
  context: ContextChoice;
  feedback: string | undefined;
}

/**
 * Submits and decides the plan of one session: each step reads the plan, judges, writes an edited plan, and only then
 * changes the posture, at once (PM-73). Steps run one after the other; who may ask for one is the session's to say.
 */
export class PlanDecisions {
  readonly #options: PlanDecisionsOptions;
  readonly #turns = new Turns();
  #revision = 0;

  constructor(options: PlanDecisionsOptions) {
    this.#options = options;
  }

  /** See `PlanSession.submit`. */
  submit(tool: SubmissionTool): Promise<SubmissionVerdict> {
    return this.#turns.take(async () => {
      const { kind, posture, plan } = this.#options;
      const loaded = await plan.load();
      if (loaded.kind === 'refused') return loaded;
      const { context, approval } = posture.state;
      const verdict = judgeSubmission({ mode: context.mode, kind, plan: loaded.plan, tool, approval });
      if (kind !== 'teammate' && (verdict.kind === 'submit' || verdict.kind === 'empty')) {
        this.#revision += 1;
        posture.propose({ planDigest: verdict.plan.digest, revision: this.#revision });
      }
      return verdict;
    });
  }

  /** See `PlanSession.approve`. */
  approve(approval: Approval): Promise<Opened | Refused> {
    const stillHolds = this.#sinceNow();
    return this.#turns.take(async () => {
      const { kind, posture, plan, offers } = this.#options;
      const refused = this.#faultOfPlace() ?? (stillHolds() ? undefined : this.#overtaken());
      if (refused) return refused;
      const loaded = await plan.load();
      if (loaded.kind === 'refused') return loaded;
      const submitted = posture.state.proposal?.planDigest;
      const judged = judgeApproval({
        approval,
        stored: loaded.plan,
        submitted,
        kind,
        canStore: plan.exists,
        offers,
      });
      if (judged.kind === 'refused') return judged;
      const { mode = 'restore', context = 'keep', feedback } = approval;
      const grant: Grant = { ...judged, mode, context, feedback };
      return plan.replace(loaded.plan, judged.plan, () =>
        stillHolds() ? this.#open(grant) : this.#overtaken(),
      );
    });
  }

  /** See `PlanSession.reject`. */
  reject(rejection: Rejection): Promise<Rejected | Refused> {
    const stillHolds = this.#sinceNow();
    return this.#turns.take(async () => {
      const fault = this.#faultOfPlace() ?? faultOfRejection(rejection);
      if (fault) return fault;
      const loaded = await this.#options.plan.load();
      if (!stillHolds()) return this.#overtaken();
      return this.#reject(loaded.kind === 'loaded' ? loaded.plan : undefined, rejection);
    });
  }

  /** See `PlanSession.decide`. */
  decide(claims: DecisionClaims, given: DecisionContents): Promise<Opened | Rejected | Refused> {
    const stillHolds = this.#sinceNow();
    return this.#turns.take(async () => {
      const { sessionId, posture, plan: keeper } = this.#options;
      const fault = faultOfDecision(claims, { sessionId, state: posture.state });
      if (fault) return refuse('decision_invalid', fault);
      const loaded = await keeper.load();
      // What cannot be read is no plan, and the approved one takes its place.
      const stored = loaded.kind === 'loaded' ? loaded.plan : undefined;
      if (claims.outcome === 'rejected')
        return stillHolds() ? this.#reject(stored, given) : this.#overtaken();
      const plan = given.plan ?? stored;
      const misfit = this.#faultOfPlan(plan, claims);
      if (misfit) return refuse('decision_invalid', misfit);
      const { planEdited, context, permissionMode } = claims;
      const mode = permissionMode ?? 'default';
      const grant: Grant = { mode, plan, planEdited, context, feedback: given.feedback };
      return keeper.replace(stored, plan ?? storedPlan(''), () =>
        stillHolds() ? this.#open(grant) : this.#overtaken(),
      );
    });
  }

  #open({ mode: target, plan, planEdited, context, feedback }: Grant): Opened | Refused {
    const { kind, posture } = this.#options;
    const { state } = posture;
    const planDigest = (plan ?? storedPlan('')).digest;
    const requestId = state.proposal?.requestId;
    const { mode, notice } = posture.move(
      {
        context: leavePlan(state.context, target),
        approval: { planDigest, ...(requestId && { requestId }) },
        // A teammate's stays in its record: after a restart the same decision is verified and applied again (PM-9).
        proposal: requestId === undefined ? undefined : state.proposal,
      },
      { cause: 'approved', decided: { outcome: 'approved', planEdited } },
    );
    if (mode === 'plan') return this.#overtaken(); // a working mode cannot be left into it
    const result = outcomeText(approvalOutcome({ kind, mode, plan, planEdited, feedback }));
    return {
      kind: 'opened',
      mode,
      plan,
      planEdited,
      context,
      result,
      ...(notice !== undefined && { notice }),
    };
  }

  #reject(plan: StoredPlan | undefined, { feedback, images = [] }: Rejection): Rejected {
    this.#options.posture.endProposal({ outcome: 'rejected' });
    const text = { plan: plan?.text ?? '', feedback, images: images.length };
    return { kind: 'rejected', result: outcomeText({ kind: 'rejected', ...text }), images };
  }

  /** Why the session itself is not the place to decide now, if so: a team's request is decided by its lead (I2, I5). */
  #faultOfPlace(): Refused | undefined {
    const { context, proposal } = this.#options.posture.state;
    if (context.mode !== 'plan') return refuse('not_planning', 'there is no plan to decide');
    if (proposal?.requestId === undefined) return undefined;
    return refuse(
      'approval_required',
      `the request ${proposal.requestId} waits for the team lead, who decides it`,
    );
  }

  #faultOfPlan(plan: StoredPlan | undefined, claims: DecisionClaims): string | undefined {
    if (!plan) return this.#options.plan.exists ? 'the approved plan is not at hand' : undefined;
    if (plan.digest !== claims.approvedPlanDigest) return 'the plan at hand is not the approved one';
    return faultOfApprovedPlan(plan)?.detail;
  }

  /**
   * Says whether mode and waiting plan are still those of now. To be asked for when a person acts, not when their turn
   * comes: what they saw then is what they meant.
   */
  #sinceNow(): () => boolean {
    const { posture } = this.#options;
    const { version } = posture;
    return () => posture.version === version;
  }

  #overtaken(): Refused {
    const planning = this.#options.posture.state.context.mode === 'plan';
    return refuse(
      planning ? 'stale_plan' : 'not_planning',
      'the session changed while this was under way; nothing came of it',
    );
  }
}
