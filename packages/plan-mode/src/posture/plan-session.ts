import {
  type DecisionClaims,
  Digest,
  exceeds,
  type PermissionMode,
  RequestId,
  type WorkingMode,
} from '@placet/protocol';
import { z } from 'zod';
import { type Gate, judgeWhilePlanning, type PlanPhase, type Refusal, type Verdict } from '../gate/gate.ts';
import { contextOf, enterPlan, leavePlan, PermissionContext } from './permission-context.ts';

/** Who asks for a change: a person (or a lead through an authenticated surface), or anything out of a model. */
export type Actor = 'user' | 'model';

/** The request that a session waits for: what its decision must be about. */
export const OpenRequest = z.strictObject({
  requestId: RequestId,
  planDigest: Digest,
  revision: z.number().int().positive(),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

/** A team session's posture, as it stands in its record and comes back after a restart (PM-9). */
export const Posture = z.strictObject({
  context: PermissionContext,
  open: OpenRequest.optional(),
});
export type Posture = z.infer<typeof Posture>;

/** Why a change was not made; `detail` is for people. */
export interface Refused {
  kind: 'refused';
  code: 'approval_required' | 'forbidden' | 'decision_invalid' | 'mode_mismatch';
  detail: string;
}

/** What happened to a session, in order (PM-78). */
export type PlanSessionEvent =
  | {
      type: 'plan:mode';
      seq: number;
      mode: PermissionMode;
      cause: 'entered' | 'exited' | 'approved' | 'mode_mismatch';
    }
  | { type: 'plan:blocked'; seq: number; refusal: Refusal };

/** What a {@link PlanSession} is made of. */
export interface PlanSessionOptions {
  sessionId: string;
  /** The session leaves plan mode by a verified decision and by nothing else (PM-17). */
  planModeRequired: boolean;
  /** The mode it starts in; `plan` where plan mode is required, whatever is said here. */
  mode?: PermissionMode;
  /** The mode that `restore` goes back to, where it starts planning. `default` unless set. */
  prePlanMode?: WorkingMode;
  isPlanFile: PlanPhase['isPlanFile'];
  ownServers?: ReadonlySet<object>;
  trustedReadOnlyTools?: ReadonlySet<string>;
  onEvent?: (event: PlanSessionEvent) => void;
}

/**
 * The one owner of a session's posture: which mode it is in, what that lets it do, which request it waits for. It
 * decides nothing by itself about signatures: what {@link decide} is given was verified, and is compared here once
 * more with the session's own request.
 */
export class PlanSession {
  readonly sessionId: string;
  readonly #required: boolean;
  readonly #phase: PlanPhase;
  readonly #onEvent: ((event: PlanSessionEvent) => void) | undefined;
  #context: PermissionContext;
  #open: OpenRequest | undefined;
  #seq = 0;

  constructor(options: PlanSessionOptions) {
    this.sessionId = options.sessionId;
    this.#required = options.planModeRequired;
    this.#onEvent = options.onEvent;
    this.#phase = {
      sessionId: options.sessionId,
      ownServers: options.ownServers ?? new Set(),
      trustedReadOnlyTools: options.trustedReadOnlyTools ?? new Set(),
      isPlanFile: options.isPlanFile,
    };
    const mode = options.planModeRequired ? 'plan' : (options.mode ?? 'default');
    this.#context =
      mode === 'plan' ? { mode, prePlanMode: options.prePlanMode ?? 'default' } : contextOf(mode);
  }

  /**
   * A session as its record says (PM-9). A record that says anything but planning of a session that requires plan
   * mode is no approval: such a session comes back planning, and its decision is verified again.
   */
  static restore(options: PlanSessionOptions, posture: Posture): PlanSession {
    const { context, open } = posture;
    const session = new PlanSession(options);
    if (!options.planModeRequired || context.mode === 'plan') session.#context = context;
    session.#open = open;
    return session;
  }

  get mode(): PermissionMode {
    return this.#context.mode;
  }

  /** The mode to go back to; undefined outside plan mode. */
  get prePlanMode(): WorkingMode | undefined {
    return this.#context.mode === 'plan' ? this.#context.prePlanMode : undefined;
  }

  /** Whether a submitted plan waits for its decision. */
  get awaitingPlanApproval(): boolean {
    return this.#context.mode === 'plan' && this.#open !== undefined;
  }

  /** Judges each call of this session and of every agent under it (PM-21, PM-24); give this very function away. */
  readonly gate: Gate = (call): Verdict => {
    if (this.#context.mode !== 'plan') return { kind: 'allowed' };
    const verdict = judgeWhilePlanning(this.#phase, call);
    if (verdict.kind === 'refused')
      this.#onEvent?.({ type: 'plan:blocked', seq: ++this.#seq, refusal: verdict.refusal });
    return verdict;
  };

  /** Enters plan mode (PM-3); a plan that was approved before is not any more (WR-25). */
  enter(): void {
    if (this.#context.mode === 'plan') return;
    this.#open = undefined;
    this.#move(enterPlan(this.#context), 'entered');
  }

  /** The plan is in the store: what comes now must be the decision about exactly this (TM-4). */
  submitted(open: OpenRequest): void {
    this.#open = open;
  }

  /** Leaves plan mode without an approval (PM-13): only for a person, and never where plan mode is required (PM-17). */
  exit(actor: Actor): { kind: 'left'; mode: PermissionMode } | Refused {
    const refused = this.#mayLeaveUnapproved(actor);
    if (refused) return refused;
    this.#open = undefined;
    this.#move(leavePlan(this.#context, 'restore'), 'exited');
    return { kind: 'left', mode: this.mode };
  }

  /** A person approves a plan at the session itself, as `/plan approve` does; not where plan mode is required (PM-17). */
  approve(actor: Actor, target: WorkingMode | 'restore'): { kind: 'left'; mode: PermissionMode } | Refused {
    const refused = this.#mayLeaveUnapproved(actor);
    if (refused) return refused;
    this.#open = undefined;
    this.#move(leavePlan(this.#context, target), 'approved');
    return { kind: 'left', mode: this.mode };
  }

  /**
   * Applies a verified decision in one step (PM-30, PM-73): the gate opens at once, into the granted mode, for the
   * session that owns the request. Anything that is not an approval of exactly the open request leaves it closed.
   */
  decide(claims: DecisionClaims): { kind: 'opened'; mode: WorkingMode } | Refused {
    const fault = this.#faultOf(claims);
    if (fault) return { kind: 'refused', code: 'decision_invalid', detail: fault };
    const mode = claims.permissionMode ?? 'default';
    this.#move(leavePlan(this.#context, mode), 'approved');
    return { kind: 'opened', mode };
  }

  /**
   * Compares the mode that the runtime is really in with the granted one (TM-11). A stronger one closes the gate
   * again; a weaker one is what then holds.
   */
  confirm(effective: PermissionMode): { kind: 'confirmed'; mode: PermissionMode } | Refused {
    const granted = this.#context.mode;
    if (granted === 'plan')
      return { kind: 'refused', code: 'approval_required', detail: 'the session is planning' };
    if (effective !== granted && (exceeds(effective, granted) || !exceeds(granted, effective))) {
      this.#move({ mode: 'plan', prePlanMode: 'default' }, 'mode_mismatch');
      return { kind: 'refused', code: 'mode_mismatch', detail: `granted ${granted}, in effect ${effective}` };
    }
    if (effective !== 'plan') this.#context = { mode: effective };
    return { kind: 'confirmed', mode: effective };
  }

  /** What to keep in the session's record (PM-9). */
  snapshot(): Posture {
    return { context: this.#context, ...(this.#open && { open: this.#open }) };
  }

  #mayLeaveUnapproved(actor: Actor): Refused | undefined {
    if (this.#required)
      return {
        kind: 'refused',
        code: 'approval_required',
        detail: 'only a verified decision ends planning here',
      };
    if (actor !== 'user')
      return { kind: 'refused', code: 'forbidden', detail: 'a model cannot leave plan mode' };
    return undefined;
  }

  #faultOf(claims: DecisionClaims): string | undefined {
    const open = this.#open;
    if (this.#context.mode !== 'plan') return 'the session is not planning';
    if (!open) return 'the session has no open request';
    if (claims.outcome !== 'approved') return `the outcome is ${claims.outcome}`;
    if (claims.sessionId !== this.sessionId) return 'it is for another session';
    if (claims.requestId !== open.requestId) return 'it is for another request';
    if (claims.planDigest !== open.planDigest) return 'it is for another plan';
    if (claims.revision !== open.revision) return 'it is for another revision';
    return undefined;
  }

  #move(context: PermissionContext, cause: 'entered' | 'exited' | 'approved' | 'mode_mismatch'): void {
    const changed = context.mode !== this.#context.mode;
    this.#context = context;
    if (changed) this.#onEvent?.({ type: 'plan:mode', seq: ++this.#seq, mode: context.mode, cause });
  }
}
