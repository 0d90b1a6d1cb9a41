import type { CommitCommand, CommitResult, ReserveCommand, ReserveResult } from './decision-store.ts';
import { decidedHistory } from './history.ts';
import { keyOf } from './keys.ts';
import { packDigest } from './packed-names.ts';
import { expireRequest } from './request-ending.ts';
import type { RequestReader } from './request-reader.ts';
import { runScript, unknownReply } from './scripts.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

/** How long a reservation holds, by the store's clock (WR-20). */
const reservationMs = 5000;

/** How many votes a decider saw; none can be cast yet (TM-31). */
const votesSeen = 0;

/** Holds a pending request for a decision that is about to be signed. See `RequestStore.reserve`. */
export async function reserveRequest(
  context: StoreContext,
  reader: RequestReader,
  { team, teammate, requestId, planDigest, token }: ReserveCommand,
): Promise<ReserveResult> {
  const keys = [
    keyOf(team, 'request', teammate, requestId),
    keyOf(team, 'requestState', teammate, requestId),
  ];
  const args = [packDigest(planDigest), votesSeen, token, reservationMs];
  const reply = await runScript(context, 'reserve-decision', keys, args);
  switch (reply.word) {
    case 'reserved':
      return { kind: 'reserved', nowMs: reply.number(0) };
    case 'busy':
      return { kind: 'busy', freeInMs: reply.number(0) };
    case 'gone':
    case 'stale':
    case 'absent':
      return { kind: reply.word };
    case 'recounted':
      return { kind: 'gone' };
    case 'expired': {
      const parts = await reader.stored({ team, teammate, requestId });
      if (!parts) return { kind: 'absent' };
      await expireRequest(context, { team, teammate, requestId, sessionId: parts.request.s });
      return { kind: 'gone' };
    }
    default:
      return unknownReply('reserve-decision', reply);
  }
}

/** Writes a signed decision under its reservation. See `RequestStore.commit`. */
export async function commitDecision(context: StoreContext, command: CommitCommand): Promise<CommitResult> {
  const { team, teammate, sessionId, requestId, decision, editedPlan } = command;
  const history = decidedHistory({ teammate, sessionId, requestId }, decision, command.jti);
  const editedDigest = editedPlan ? packDigest(editedPlan.digest) : '';
  const keys = [
    keyOf(team, 'request', teammate, requestId),
    keyOf(team, 'requestState', teammate, requestId),
    keyOf(team, 'decision', requestId),
    keyOf(team, 'session', teammate, sessionId),
    keyOf(team, 'inbox', teammate),
    keyOf(team, 'plan', editedDigest),
    keyOf(team, 'planReferences'),
  ];
  const what = [requestId, teammate, sessionId, command.token, decision.outcome, JSON.stringify(decision)];
  const when = [command.jti, command.decidedAtMs, command.notAfterMs];
  const edited = [editedDigest, editedPlan?.bytes ?? ''];
  const args = [...what, ...when, ...edited, history.event, history.audit, context.reconcileAfterMs];
  const reply = await runTeamScript(context, team, 'commit-decision', keys, args);
  if (reply.word === 'committed' || reply.word === 'lapsed') return { kind: reply.word };
  return unknownReply('commit-decision', reply);
}
