import {
  currentOf,
  type PermissionMode,
  PlacetError,
  type RequestRecord,
  type SessionId,
} from '@placet/protocol';
import { type Subject, type WorkChange, workHistory } from './history.ts';
import { keyOf } from './keys.ts';
import type { LeaseResult, Settlement } from './mailbox-port.ts';
import { packRequestId, unpackRequestId } from './packed-names.ts';
import { type StoredParts, toRecord } from './request-codec.ts';
import { lapseApproval, notFound } from './request-ending.ts';
import type { RequestName, RequestReader } from './request-reader.ts';
import { type Reply, unknownReply } from './scripts.ts';
import { memberOf } from './session-name.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

/** The longest reason that a record keeps, in bytes (ST-3); the event log has it in full. */
const maxReasonBytes = 64;

/** Claims the work under an approval. See `RequestStore.claim`. */
export async function claimWork(
  context: StoreContext,
  reader: RequestReader,
  name: RequestName,
  { holder, leaseMs, session }: { holder: string; leaseMs: number; session?: SessionId | undefined },
): Promise<LeaseResult> {
  // The script compares the session's latest request with this one, so a session that is not its own gets nothing.
  const sessionId = session ?? (await ownParts(reader, name)).request.s;
  const keys = [...requestKeys(name), keyOf(name.team, 'session', name.teammate, sessionId)];
  const { event, audit } = workHistory(
    { teammate: name.teammate, sessionId, requestId: name.requestId },
    { state: 'claimed' },
  );
  const packed = packRequestId(name.team, name.teammate, name.requestId);
  const args = [packed, memberOf({ teammate: name.teammate, sessionId }), holder, leaseMs, event, audit];
  const reply = await runTeamScript(context, name.team, 'claim-work', keys, args);
  switch (reply.word) {
    case 'held':
      return {
        kind: 'held',
        lease: { sessionId, epoch: reply.number(0), leftover: reply.text(1) || undefined },
      };
    case 'busy':
      return { kind: 'busy', freeInMs: reply.number(0) };
    case 'absent':
      throw notFound(name.requestId);
    default:
      throw await refusedClaim(context, reader, await ownParts(reader, name), reply);
  }
}

/** Records that the decision was read and verified. See `RequestStore.markDelivered`. */
export function markDelivered(
  context: StoreContext,
  reader: RequestReader,
  name: RequestName,
): Promise<RequestRecord> {
  return recordReceipt(context, reader, name, { state: 'delivered' });
}

/** Records that the gate opened. See `RequestStore.markApplied`. */
export function markApplied(
  context: StoreContext,
  reader: RequestReader,
  name: RequestName,
  { epoch, mode }: { epoch: number; mode: PermissionMode },
): Promise<RequestRecord> {
  return recordReceipt(context, reader, name, { state: 'applied', epoch, mode });
}

/** Ends the work. See `RequestStore.settle`. */
export async function settleWork(
  context: StoreContext,
  reader: RequestReader,
  name: RequestName,
  settlement: Settlement,
): Promise<RequestRecord> {
  const { team, teammate, requestId } = name;
  const { epoch, state, reason, branch, commit } = settlement;
  const parts = await ownParts(reader, name);
  const sessionId = parts.request.s;
  const keys = [...requestKeys(name), keyOf(team, 'session', teammate, sessionId)];
  const { event, audit } = workHistory(subjectOf(parts), { state, epoch, reason, branch });
  const what = [
    requestId,
    packRequestId(team, teammate, requestId),
    memberOf({ teammate, sessionId }),
    epoch,
    state,
  ];
  const how = [cutReason(reason ?? ''), branch ?? '', commit ?? '', event, audit];
  const reply = await runTeamScript(context, team, 'settle-work', keys, [...what, ...how]);
  switch (reply.word) {
    case 'settled':
    case 'known':
      return ownRecord(reader, name);
    case 'stale':
      throw await staleEpoch(reader, name, epoch);
    case 'absent':
      throw notFound(requestId);
    default:
      return unknownReply('settle-work', reply);
  }
}

/** A reason as records keep it: at most {@link maxReasonBytes}, and an ellipsis says when that is not all. */
export function cutReason(reason: string): string {
  if (Buffer.byteLength(reason) <= maxReasonBytes) return reason;
  const ellipsis = '…';
  const kept = Buffer.from(reason).subarray(0, maxReasonBytes - Buffer.byteLength(ellipsis));
  return kept.toString('utf8').replace(/\uFFFD+$/, '') + ellipsis;
}

async function recordReceipt(
  context: StoreContext,
  reader: RequestReader,
  name: RequestName,
  change: WorkChange & { state: 'delivered' | 'applied' },
): Promise<RequestRecord> {
  const parts = await ownParts(reader, name);
  const { event, audit } = workHistory(subjectOf(parts), change);
  const args = [change.state, change.epoch ?? '', change.mode ?? '', event, audit];
  const reply = await runTeamScript(context, name.team, 'record-receipt', requestKeys(name), args);
  switch (reply.word) {
    case 'recorded':
    case 'known':
      return ownRecord(reader, name);
    case 'stale':
      throw await staleEpoch(reader, name, change.epoch ?? 0);
    case 'pending':
      throw notApproved(parts);
    case 'absent':
      throw notFound(name.requestId);
    default:
      return unknownReply('record-receipt', reply);
  }
}

async function refusedClaim(
  context: StoreContext,
  reader: RequestReader,
  parts: StoredParts,
  reply: Reply,
): Promise<PlacetError> {
  const { team, teammate, requestId } = parts;
  const record = toRecord((await reader.stored(parts)) ?? parts);
  switch (reply.word) {
    case 'not_approved':
      return notApproved(parts);
    case 'superseded': {
      const latest = reply.text(0);
      const supersededBy = latest && unpackRequestId(team, teammate, latest);
      return superseded(record, supersededBy);
    }
    case 'settled': {
      const reason = reply.text(0);
      if (reason === 'expired_unapplied') return expiredUnapplied(record);
      if (reason === 'superseded') return superseded(record, record.supersededBy);
      return new PlacetError('already_decided', `the work of ${requestId} is ${record.work.state}`, {
        current: { ...currentOf(record), work: record.work },
      });
    }
    case 'lapsed':
      await lapseApproval(context, { team, ...subjectOf(parts) });
      return expiredUnapplied(record);
    default:
      return unknownReply('claim-work', reply);
  }
}

async function staleEpoch(reader: RequestReader, name: RequestName, epoch: number): Promise<PlacetError> {
  const { work } = await ownRecord(reader, name);
  const detail = `the work of ${name.requestId} is ${work.state} under epoch ${work.epoch}, not ${epoch}`;
  return new PlacetError('epoch_stale', detail, { current: { requestId: name.requestId, work } });
}

function notApproved(parts: StoredParts): PlacetError {
  return new PlacetError('not_approved', `request ${parts.requestId} is no approval that stands`, {
    current: currentOf(toRecord(parts)),
  });
}

function superseded(record: RequestRecord, supersededBy: string | undefined): PlacetError {
  const current = { ...currentOf(record), ...(supersededBy && { supersededBy }) };
  return new PlacetError('superseded', `request ${record.requestId} is not the latest of its session`, {
    current,
  });
}

function expiredUnapplied(record: RequestRecord): PlacetError {
  return new PlacetError('expired_unapplied', `the approval of ${record.requestId} was not claimed in time`, {
    current: currentOf(record),
  });
}

/** @throws PlacetError `not_found`, also for another teammate's request: its key is another */
async function ownParts(reader: RequestReader, name: RequestName): Promise<StoredParts> {
  const parts = await reader.stored(name);
  if (!parts) throw notFound(name.requestId);
  return parts;
}

async function ownRecord(reader: RequestReader, name: RequestName): Promise<RequestRecord> {
  return toRecord(await ownParts(reader, name));
}

function requestKeys({ team, teammate, requestId }: RequestName): string[] {
  return [keyOf(team, 'request', teammate, requestId), keyOf(team, 'requestState', teammate, requestId)];
}

function subjectOf({ teammate, requestId, request }: StoredParts): Subject {
  return { teammate, sessionId: request.s, requestId };
}
