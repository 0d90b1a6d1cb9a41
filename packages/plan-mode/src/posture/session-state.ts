import {
  type AllowRule,
  type DecisionClaims,
  type Digest,
  type OpenRequest,
  type PermissionContext,
  Posture,
  type StandingApproval,
} from '@placet/protocol';
import { type RuleBook, rulesOf, settleRules, strippedRulesIn, withStripped } from './auto-rules.ts';
import { withoutAuto } from './permission-context.ts';

/** A plan that waits for its decision; one of a session outside a team has no request ID. */
export interface Proposal {
  requestId?: OpenRequest['requestId'];
  planDigest: Digest;
  revision: number;
}

/** Everything that a session's owner owns. Never changed in place. */
export interface SessionState {
  readonly context: PermissionContext;
  readonly book: RuleBook;
  readonly proposal: Proposal | undefined;
  readonly approval: StandingApproval | undefined;
}

/** What auto semantics depend on (PM-6). */
export interface AutoConditions {
  gateOpen: boolean;
  useAutoModeDuringPlan: boolean;
}

/**
 * The state as it must be under these conditions, whatever led to it: no `auto` behind a closed gate (PM-7), dangerous
 * rules stripped exactly while auto semantics hold (PM-5, PM-6). Doing it twice changes nothing.
 */
export function settleState(state: SessionState, conditions: AutoConditions): SessionState {
  const { gateOpen, useAutoModeDuringPlan } = conditions;
  const context = gateOpen ? state.context : withoutAuto(state.context);
  const auto = context.mode === 'auto' || (context.mode === 'plan' && gateOpen && useAutoModeDuringPlan);
  return { ...state, context, book: settleRules(state.book, auto) };
}

/** Whether a way back to, or a stay in, `auto` was taken from a state when it was settled (PM-7). */
export function lostAuto(wanted: SessionState, settled: SessionState): boolean {
  return hasAuto(wanted.context) && !hasAuto(settled.context);
}

function hasAuto(context: PermissionContext): boolean {
  return context.mode === 'auto' || (context.mode === 'plan' && context.prePlanMode === 'auto');
}

/** A new session's state. */
export function stateOf(context: PermissionContext, allowRules: readonly AllowRule[]): SessionState {
  return { context, book: rulesOf(allowRules), proposal: undefined, approval: undefined };
}

/** What to keep of a state in the session's record (PM-9); `seq` is the number of its last event. */
export function postureOf(state: SessionState, seq: number): Posture {
  const { context, book, proposal, approval } = state;
  return {
    context,
    ...(proposal?.requestId && { open: { ...proposal, requestId: proposal.requestId } }),
    ...(approval && { approval }),
    strippedRules: strippedRulesIn(book),
    seq,
  };
}

/**
 * The state that a record says (PM-9), fit for what the session is. A session that must plan comes back planning
 * whatever is said: its decision is verified again. So does any whose record is missing or cannot be read (I6).
 */
export function stateFrom(
  record: unknown,
  session: { planModeRequired: boolean; planning: PermissionContext; allowRules: readonly AllowRule[] },
): { state: SessionState; recorded: Posture | undefined } {
  const { planModeRequired, planning, allowRules } = session;
  const recorded = Posture.safeParse(record).data;
  if (!recorded) return { state: stateOf(planning, allowRules), recorded };
  const { context, open, approval, strippedRules } = recorded;
  const closed = planModeRequired && context.mode !== 'plan';
  return {
    state: {
      context: closed ? planning : context,
      book: withStripped(allowRules, strippedRules),
      proposal: open,
      approval: closed ? undefined : approval,
    },
    recorded,
  };
}

/** Why a verified decision is not one about what this session waits for, if so (PM-30, I3). */
export function faultOfDecision(
  claims: DecisionClaims,
  { sessionId, state }: { sessionId: string; state: SessionState },
): string | undefined {
  const { context, proposal } = state;
  if (context.mode !== 'plan') return 'the session is not planning';
  if (!proposal?.requestId) return 'the session has no open request';
  if (claims.sessionId !== sessionId) return 'it is for another session';
  if (claims.requestId !== proposal.requestId) return 'it is for another request';
  if (claims.planDigest !== proposal.planDigest) return 'it is for another plan';
  if (claims.revision !== proposal.revision) return 'it is for another revision';
  if (claims.outcome !== 'approved' && claims.outcome !== 'rejected')
    return `the outcome is ${claims.outcome}`;
  return undefined;
}
