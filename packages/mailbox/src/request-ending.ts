import { currentOf, PlacetError, type RequestRecord } from '@placet/protocol';
import { endedHistory, type Subject, workHistory } from './history.ts';
import { keyOf } from './keys.ts';
import { packRequestId } from './packed-names.ts';
import { retryWhileHeld } from './rivals.ts';
import { unknownReply } from './scripts.ts';
import { memberOf } from './session-name.ts';
import { type DutyFence, fenceEpoch, fenceKey, runTeamScript, type StoreContext } from './store-context.ts';

/** Names a request, with the session that it belongs to. */
export interface SessionRequest extends Subject {
  team: string;
}

/** What came of ending a request without a decision. */
export type EndResult =
  | { kind: 'ended' }
  /** It had ended before. */
  | { kind: 'gone' }
  /** It is held for a decision, for at most `freeInMs` more. */
  | { kind: 'busy'; freeInMs: number }
  /** Its deadline has not passed. */
  | { kind: 'early' }
  /** It was to be withdrawn, but its deadline has passed. */
  | { kind: 'late' }
  | { kind: 'absent' }
  /** Another process has the duty. */
  | { kind: 'deposed' };

/** Ends a pending request whose deadline has passed (WR-24). */
export function expireRequest(
  context: StoreContext,
  name: SessionRequest,
  fence?: DutyFence,
): Promise<EndResult> {
  return endRequest(context, name, 'timeout', fence);
}

/**
 * Takes a pending request back. Waits while it is held for a decision.
 * @throws PlacetError `not_found`, `already_decided`; `store_unavailable` when it is held for too long
 */
export async function withdrawRequest(
  context: StoreContext,
  reader: { get(team: string, requestId: string): Promise<RequestRecord | undefined> },
  name: { team: string; teammate: string; requestId: string },
  signal?: AbortSignal,
): Promise<RequestRecord> {
  const found = await reader.get(name.team, name.requestId);
  if (found?.teammate !== name.teammate) throw notFound(name.requestId);
  const subject = { ...name, sessionId: found.sessionId };
  await retryWhileHeld(context.rivalWaitMs, signal, async () => {
    const result = await endRequest(context, subject, 'withdrawn');
    return result.kind === 'busy' ? result.freeInMs : undefined;
  });
  const record = await reader.get(name.team, name.requestId);
  if (!record) throw notFound(name.requestId);
  if (record.state !== 'withdrawn') {
    throw new PlacetError('already_decided', `request ${name.requestId} is ${record.state}`, {
      current: currentOf(record),
    });
  }
  return record;
}

/** Ends the work of an approval that was not claimed in time (WR-28); false when it was, or is still in time. */
export async function lapseApproval(context: StoreContext, name: SessionRequest): Promise<boolean> {
  const { team, teammate, requestId, sessionId } = name;
  const { event, audit } = workHistory(subjectOf(name), { state: 'failed', reason: 'expired_unapplied' });
  const keys = [
    keyOf(team, 'requestState', teammate, requestId),
    keyOf(team, 'session', teammate, sessionId),
  ];
  const packed = packRequestId(team, teammate, requestId);
  const args = [requestId, packed, memberOf({ teammate, sessionId }), event, audit];
  const reply = await runTeamScript(context, team, 'lapse-approval', keys, args);
  return reply.word === 'lapsed';
}

/** @throws PlacetError `not_found`, in the words that say the same of another teammate's request */
export function notFound(requestId: string): PlacetError {
  return new PlacetError('not_found', `there is no request ${requestId} here`);
}

async function endRequest(
  context: StoreContext,
  name: SessionRequest,
  outcome: 'timeout' | 'withdrawn',
  fence?: DutyFence,
): Promise<EndResult> {
  const { team, teammate, requestId, sessionId } = name;
  const { event, audit } = endedHistory(subjectOf(name), outcome);
  const keys = [
    keyOf(team, 'request', teammate, requestId),
    keyOf(team, 'requestState', teammate, requestId),
    keyOf(team, 'session', teammate, sessionId),
    keyOf(team, 'inbox', teammate),
    fenceKey(team, fence),
  ];
  const { reconcileAfterMs } = context;
  const args = [requestId, teammate, sessionId, outcome, event, audit, reconcileAfterMs, fenceEpoch(fence)];
  const reply = await runTeamScript(context, team, 'end-request', keys, args);
  switch (reply.word) {
    case 'ended':
    case 'gone':
    case 'early':
    case 'late':
    case 'absent':
    case 'deposed':
      return { kind: reply.word };
    case 'busy':
      return { kind: 'busy', freeInMs: reply.number(0) };
    default:
      return unknownReply('end-request', reply);
  }
}

function subjectOf({ teammate, sessionId, requestId }: Subject): Subject {
  return { teammate, sessionId, requestId };
}
