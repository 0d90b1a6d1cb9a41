import {
  type AllowRule,
  type DecisionClaims,
  type EntryCause,
  exceeds,
  type Log,
  type OpenRequest,
  type PermissionContext,
  type PermissionMode,
  type Posture,
  type StrippedRule,
  silentLog,
  systemClock,
  type WorkingMode,
} from '@placet/protocol';
import { createGate, type Gate } from '../gate/gate.ts';
import type { Refusal } from '../gate/refusal.ts';
import type { Approval } from '../submission/approval.ts';
import type { Rejection } from '../submission/rejection.ts';
import type { SubmissionTool, SubmissionVerdict } from '../submission/submission.ts';
import { allowRulesIn, type RuleChange, strippedRulesIn } from './auto-rules.ts';
import type { Replay } from './event-log.ts';
import { nextMode } from './mode-cycle.ts';
import { contextOf, enterPlan, leavePlan } from './permission-context.ts';
import { type DecisionContents, PlanDecisions } from './plan-decisions.ts';
import { PlanKeeper } from './plan-keeper.ts';
import type { Actor, Left, Opened, PlanSessionOptions, Rejected } from './plan-session-options.ts';
import { PostureKeeper } from './posture-keeper.ts';
import { type Refused, refuse } from './refused.ts';
import { postureOf, type SessionState, stateFrom, stateOf } from './session-state.ts';

/**
 * The one owner of a session's posture: which mode it is in, what that lets it do, which plan it waits for. It
 * decides nothing by itself about signatures: what {@link decide} is given was verified, and is compared here once
 * more with the session's own request.
 *
 * Everything but what reads or writes the plan is done when its call returns. Those that do run one after the other; a
 * mode that changes meanwhile wins, and what was under way is refused and undone (PM-73).
 */
export class PlanSession {
  readonly sessionId: string;
  readonly #options: PlanSessionOptions;
  readonly #log: Log;
  readonly #posture: PostureKeeper;
  readonly #decisions: PlanDecisions;

  /** A session that begins now. `restored` is for {@link PlanSession.restore}. */
  constructor(options: PlanSessionOptions, restored?: { record: unknown }) {
    this.sessionId = options.sessionId;
    this.#options = options;
    this.#log = options.log ?? silentLog;
    const { isPlanFile, planFile, ownServers, trustedReadOnlyTools } = options;
    this.gate = createGate({
      sessionId: options.sessionId,
      isPlanning: () => this.mode === 'plan',
      isPlanFile: (path) => (isPlanFile ? isPlanFile(path) : planFile?.isPlanFile(path) === true),
      ownServers,
      trustedReadOnlyTools,
      log: this.#log,
      onBlocked: (refusal) => this.#blocked(refusal),
    });
    const { planModeRequired, allowRules = [], prePlanMode = 'default' } = options;
    const planning: PermissionContext = { mode: 'plan', prePlanMode };
    const started =
      planModeRequired || options.mode === 'plan' ? planning : contextOf(options.mode ?? 'default');
    const { state, recorded } = restored
      ? stateFrom(restored.record, { planModeRequired, planning, allowRules })
      : { state: stateOf(started, allowRules), recorded: undefined };
    this.#posture = new PostureKeeper({
      state,
      seq: recorded?.seq ?? 0,
      autoGate: options.autoGate,
      useAutoModeDuringPlan: options.useAutoModeDuringPlan ?? true,
      clock: options.clock ?? systemClock,
      log: this.#log,
      onEvent: options.onEvent,
    });
    this.#decisions = new PlanDecisions({
      sessionId: this.sessionId,
      kind: options.kind ?? (planModeRequired ? 'teammate' : 'main'),
      posture: this.#posture,
      plan: new PlanKeeper(options.planStorage ?? options.planFile, this.#log),
      offers: { clear: options.showClearContextOnPlanAccept === true, bypass: this.#bypassAvailable },
    });
    if (!recorded) this.#posture.began('started', this.mode);
    else if (!isSameContext(recorded.context, this.#state.context))
      this.#posture.began('restored', recorded.context.mode);
  }

  /**
   * A session as its record says (PM-9). Where plan mode is required it comes back planning whatever is said: its decision
   * is verified again. So does one whose record is missing or cannot be read (I6). `allowRules` are the host's as they are
   * now; those that the record says were stripped are among them once.
   */
  static restore(options: PlanSessionOptions, record: unknown): PlanSession {
    return new PlanSession(options, { record });
  }

  get mode(): PermissionMode {
    return this.#state.context.mode;
  }

  /** The mode to go back to; undefined outside plan mode. */
  get prePlanMode(): WorkingMode | undefined {
    const { context } = this.#state;
    return context.mode === 'plan' ? context.prePlanMode : undefined;
  }

  /** The rules that hold now (PM-5). They never open what the gate refuses while planning (PM-29). */
  get allowRules(): AllowRule[] {
    return allowRulesIn(this.#state.book);
  }

  /** The rules that auto semantics took out, to be given back (PM-5). */
  get strippedRules(): StrippedRule[] {
    return strippedRulesIn(this.#state.book);
  }

  /** Whether a submitted plan waits for its decision. */
  get awaitingPlanApproval(): boolean {
    return this.mode === 'plan' && this.#state.proposal !== undefined;
  }

  /** Judges each call of this session and of every agent under it (PM-21, PM-24); give this very function away. */
  readonly gate: Gate;

  /** Enters plan mode by an explicit act (PM-3, PM-10); a plan that was approved before is not any more (WR-25). */
  enter(entry: EntryCause): void {
    if (this.mode === 'plan') return;
    this.#posture.move(
      { context: enterPlan(this.#state.context), proposal: undefined, approval: undefined },
      { cause: 'entered', entry },
    );
  }

  /** Leaves plan mode without an approval (PM-13): only for a person, and never where plan mode is required (PM-17). */
  exit(actor: Actor): Left | Refused {
    const refused = this.#mayChange(actor, 'exit');
    if (refused) return refused;
    if (this.mode !== 'plan') return refuse('not_planning', 'there is no plan mode to exit');
    return this.#leave('restore', 'exited');
  }

  /**
   * Goes on to the next mode of a UI's switch (PM-8), into plan mode or out of it too: only for a person. A session that
   * must plan has no such switch, planning or working, for its mode is what was granted (PM-17).
   */
  cycle(actor: Actor): Left | { kind: 'entered'; mode: 'plan' } | Refused {
    const { context } = this.#state;
    const refused = this.#mayChange(actor, 'cycle');
    if (refused) return refused;
    const target = nextMode(context.mode, {
      bypass: this.#bypassAvailable,
      auto: this.#posture.autoGateOpen,
    });
    if (target !== 'plan') {
      if (context.mode === 'plan') return this.#leave(target, 'plan_abandoned');
      return { kind: 'left', ...this.#posture.move({ context: { mode: target } }, { cause: 'cycled' }) };
    }
    this.#posture.move(
      { context: enterPlan(context), proposal: undefined, approval: undefined },
      { cause: 'cycled' },
    );
    return { kind: 'entered', mode: 'plan' };
  }

  /** To be called when the auto gate opened or closed (PM-7). Every transition asks it again by itself. */
  autoGateChanged(): void {
    this.#posture.settle();
  }

  /** Follows a change that the host makes to its rules, whether they are stripped now or not (PM-5). */
  changeRules(change: RuleChange): void {
    this.#posture.changeRules(change);
  }

  /**
   * Judges the plan as it is stored for submission (PM-70 to PM-72). Of a main thread or agent it waits from then on; a
   * teammate sends it to the store first, and then says {@link submitted}.
   */
  submit(tool: SubmissionTool = 'plan_submit'): Promise<SubmissionVerdict> {
    return this.#decisions.submit(tool);
  }

  /** The plan is in the store: what comes now must be the decision about exactly this (TM-4). Twice is once. */
  submitted(open: OpenRequest): { kind: 'waiting' } | Refused {
    if (this.mode !== 'plan') return refuse('not_planning', 'a plan waits only in plan mode');
    this.#posture.propose(open);
    return { kind: 'waiting' };
  }

  /** The waiting plan will not be decided any more: still planning (PM-77). */
  closed(outcome: 'timeout' | 'withdrawn' | 'superseded'): void {
    if (this.#state.proposal && this.mode === 'plan') this.#posture.endProposal({ outcome });
  }

  /**
   * A person approves the plan at the session itself (PM-73), never where plan mode is required (PM-17). An edited plan
   * replaces the stored one first (PM-79); then everything else is one step, or nothing is.
   * @throws what the storage throws; the session then plans on, with the plan from before
   */
  async approve(actor: Actor, approval: Approval = {}): Promise<Opened | Refused> {
    return this.#mayChange(actor, 'approve') ?? this.#decisions.approve(approval);
  }

  /** A person rejects the plan at the session itself (PM-76): mode, plan and `prePlanMode` stay. */
  async reject(actor: Actor, rejection: Rejection): Promise<Rejected | Refused> {
    return this.#mustBeUser(actor, 'reject') ?? this.#decisions.reject(rejection);
  }

  /**
   * Applies a verified decision (PM-30, PM-73): the gate opens at once, into the granted mode, for the session that owns
   * the request. Anything that is not one of exactly the open request leaves it closed. `given` is what the decision
   * says and its claims do not: the plan as approved, which replaces another one first (PM-79), and the feedback.
   * @throws what the storage throws; the session then plans on, with the plan from before
   */
  decide(claims: DecisionClaims, given: DecisionContents = {}): Promise<Opened | Rejected | Refused> {
    return this.#decisions.decide(claims, given);
  }

  /**
   * Compares the mode that the runtime is really in with the granted one (TM-11). A stronger one closes the gate
   * again, and the approval is spent; a weaker one is what then holds.
   */
  confirm(effective: PermissionMode): { kind: 'confirmed'; mode: PermissionMode } | Refused {
    const granted = this.mode;
    if (granted === 'plan') return refuse('approval_required', 'the session is planning');
    if (effective !== granted && (exceeds(effective, granted) || !exceeds(granted, effective))) {
      this.#posture.move(
        { context: contextOf('plan'), proposal: undefined, approval: undefined },
        { cause: 'mode_mismatch' },
      );
      return refuse('mode_mismatch', `granted ${granted}, in effect ${effective}`);
    }
    if (effective !== 'plan' && effective !== granted)
      this.#posture.move({ context: { mode: effective } }, { cause: 'mode_confirmed' });
    return { kind: 'confirmed', mode: effective };
  }

  /** What happened after the event of this number (PM-78), as far as it is kept in memory. */
  eventsAfter(seq: number): Replay {
    return this.#posture.events.after(seq);
  }

  /** What to keep in the session's record (PM-9); to be stored before anybody is told of its last event. */
  snapshot(): Posture {
    return postureOf(this.#state, this.#posture.events.seq);
  }

  get #state(): SessionState {
    return this.#posture.state;
  }

  get #bypassAvailable(): boolean {
    return this.#options.bypassAvailable ?? this.#options.mode === 'bypassPermissions';
  }

  #leave(target: WorkingMode | 'restore', cause: 'exited' | 'plan_abandoned'): Left {
    const { context, proposal } = this.#state;
    const moved = this.#posture.move(
      { context: leavePlan(context, target), proposal: undefined },
      { cause, ...(proposal && { decided: { outcome: 'withdrawn' } }) },
    );
    return { kind: 'left', ...moved, ...(proposal?.requestId && { withdrawn: proposal.requestId }) };
  }

  /** Whether this actor may change the mode of this session without a verified decision. */
  #mayChange(actor: Actor, what: string): Refused | undefined {
    if (!this.#options.planModeRequired) return this.#mustBeUser(actor, what);
    this.#log.warn(
      { sessionId: this.sessionId, actor, what },
      'refused: only a verified decision ends planning here',
    );
    return refuse('approval_required', 'only a verified decision ends planning here');
  }

  #mustBeUser(actor: Actor, what: string): Refused | undefined {
    if (actor === 'user') return undefined;
    this.#log.warn(
      { sessionId: this.sessionId, actor, what },
      'refused: a model cannot leave or decide planning',
    );
    return refuse('forbidden', `only a person can ${what} here, and no model in their name`);
  }

  #blocked(refusal: Refusal): void {
    this.#posture.blocked(refusal);
    this.#options.onBlocked?.(refusal);
  }
}

function isSameContext(one: PermissionContext, other: PermissionContext): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
