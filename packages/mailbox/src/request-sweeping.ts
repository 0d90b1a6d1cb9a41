import { parseNativeRequestId } from '@placet/protocol';
import { keyOf } from './keys.ts';
import { packRequestId, unpackRequestId } from './packed-names.ts';
import { purgeSessionQuestions } from './question-sweeping.ts';
import type { StoredParts } from './request-codec.ts';
import { expireRequest, lapseApproval } from './request-ending.ts';
import type { RequestName, RequestReader } from './request-reader.ts';
import { runScript, storeCall } from './scripts.ts';
import { type SessionName, sessionKey, sessionOfMember } from './session-name.ts';
import { type DutyFence, fenceEpoch, fenceKey, runTeamScript, type StoreContext } from './store-context.ts';
import { type Swept, sweep } from './sweep.ts';
import { dueMembers, type Surplus, surplusOf } from './sweep-members.ts';

/** How long the ID of a foreign client stays taken after its request was purged (ST-9). */
const foreignTombstoneMs = 365 * 24 * 60 * 60 * 1000;
/** The longest pause between two wake-ups of a session that does not go on. */
const maxWakePauseMs = 60 * 60 * 1000;

/** How many events are looked at in one step, and in how many steps of one purge. */
const trimPiece = 500;
const maxTrimPieces = 20;

/** Ends pending requests whose deadline has passed. See `RequestStore.expireDue`. */
export async function expireOverdue(
  context: StoreContext,
  reader: RequestReader,
  team: string,
  limit: number,
  fence?: DutyFence,
): Promise<number> {
  const overdue = await dueMembers(context, { team, index: 'deadlines', limit });
  if (overdue.length === 0) return 0;
  const teammates = await reader.teammatesOf(team, overdue);
  return sweep(overdue, async (requestId, place) => {
    const teammate = teammates[place];
    const parts = teammate === undefined ? undefined : await reader.stored({ team, teammate, requestId });
    if (!parts) return 'skipped';
    const name = { team, teammate: parts.teammate, requestId, sessionId: parts.request.s };
    const { kind } = await expireRequest(context, name, fence);
    return kind === 'ended' ? 'done' : kind === 'deposed' ? 'stop' : 'skipped';
  });
}

/** Wakes sessions that are owed a step. See `RequestStore.wakeDue`. */
export async function wakeSessions(
  context: StoreContext,
  team: string,
  limit: number,
  fence?: DutyFence,
): Promise<number> {
  const members = await dueMembers(context, { team, index: 'due', limit });
  return sweep(members, async (member) => {
    const name = sessionOfMember(team, member);
    const { teammate, sessionId } = name;
    const session = sessionKey(name);
    const latest = (await storeCall('reading a session', () => context.redis.hget(session, 'rq'))) ?? '';
    const requestId = latest && unpackRequestId(team, teammate, latest);
    const keys = [session, keyOf(team, 'requestState', teammate, requestId), fenceKey(team, fence)];
    const args = [
      teammate,
      sessionId,
      latest,
      requestId,
      context.reconcileAfterMs,
      maxWakePauseMs,
      fenceEpoch(fence),
    ];
    const { word } = await runTeamScript(context, team, 'wake-session', keys, args);
    if (word === 'lapsed') await lapseApproval(context, { ...name, requestId });
    return word === 'woken' ? 'done' : word === 'deposed' ? 'stop' : 'skipped';
  });
}

/** Deletes what was settled longer ago than the retention, and what is beyond its count. See `RequestStore.purge`. */
export async function purgeSettled(
  context: StoreContext,
  reader: RequestReader,
  team: string,
  limit: number,
  fence?: DutyFence,
): Promise<number> {
  const requests = await surplusOf(context, { team, index: 'settled', limit });
  const tasks = await surplusOf(context, { team, index: 'endedTasks', limit });
  const { retiredMs } = requests;
  const teammates = await reader.teammatesOf(team, requests.members);
  const purged = await sweep(requests.members, async (requestId, place) => {
    const teammate = teammates[place] ?? 'unknown';
    const parts = await reader.stored({ team, teammate, requestId });
    const { beforeMs } = requests;
    return purgeRequest(context, { team, teammate, requestId, parts, beforeMs, retiredMs, fence });
  });
  await trimEvents(context, { team, beforeMs: retiredMs, fence });
  const tasksPurged = await sweep(tasks.members, (member) =>
    purgeTask(context, { team, member, beforeMs: tasks.beforeMs, fence }),
  );
  return purged + tasksPurged;
}

interface Purge {
  team: string;
  /** Settled before this time, in milliseconds since the epoch. */
  beforeMs: number;
  fence: DutyFence | undefined;
}

async function purgeRequest(
  context: StoreContext,
  {
    team,
    teammate,
    requestId,
    parts,
    beforeMs,
    retiredMs,
    fence,
  }: Purge & Pick<Surplus, 'retiredMs'> & RequestName & { parts: StoredParts | undefined },
): Promise<Swept> {
  const sessionId = parts?.request.s ?? '';
  const digest = parts?.request.d ?? '';
  const approved = parts?.fields.ad ?? '';
  const keys = [
    keyOf(team, 'request', teammate, requestId),
    keyOf(team, 'requestState', teammate, requestId),
    keyOf(team, 'decision', requestId),
    keyOf(team, 'foreignRequest', requestId),
    keyOf(team, 'session', teammate, sessionId),
    keyOf(team, 'task', teammate, sessionId),
    keyOf(team, 'plan', digest),
    keyOf(team, 'plan', approved),
    keyOf(team, 'planReferences'),
    fenceKey(team, fence),
    ...besideSession({ team, teammate, sessionId }),
  ];
  const what = [
    requestId,
    packRequestId(team, teammate, requestId),
    beforeMs,
    tombstoneMs(requestId, retiredMs),
  ];
  const args = [...what, digest, approved, fenceEpoch(fence)];
  const reply = await runTeamScript(context, team, 'purge-request', keys, args);
  if (reply.text(0) === 'session') await purgeSessionQuestions(context, { team, teammate, sessionId });
  return reply.word === 'purged' ? 'done' : reply.word === 'deposed' ? 'stop' : 'skipped';
}

/** Takes events away that are too old or too many, some at a time, until none is left or the duty is another's. */
async function trimEvents(context: StoreContext, { team, beforeMs, fence }: Purge): Promise<void> {
  const keys = [keyOf(team, 'events'), fenceKey(team, fence)];
  for (let pieces = 0; pieces < maxTrimPieces; pieces += 1) {
    const args = [beforeMs, trimPiece, fenceEpoch(fence), context.retentionCount];
    const reply = await runScript(context, 'trim-events', keys, args);
    if (reply.word !== 'trimmed' || reply.number(0) < trimPiece) return;
  }
}

async function purgeTask(
  context: StoreContext,
  { team, member, beforeMs, fence }: Purge & { member: string },
): Promise<Swept> {
  const name = sessionOfMember(team, member);
  const keys = [
    keyOf(team, 'endedTasks'),
    keyOf(team, 'task', name.teammate, name.sessionId),
    sessionKey(name),
    fenceKey(team, fence),
    ...besideSession(name),
  ];
  const reply = await runScript(context, 'purge-task', keys, [member, beforeMs, fenceEpoch(fence)]);
  if (reply.word === 'purged') await purgeSessionQuestions(context, name);
  return reply.word === 'purged' ? 'done' : reply.word === 'deposed' ? 'stop' : 'skipped';
}

/** What goes with a session. */
function besideSession({ team, teammate, sessionId }: SessionName): string[] {
  return [keyOf(team, 'sessionReport', teammate, sessionId), keyOf(team, 'draft', teammate, sessionId)];
}

/**
 * How long an ID must stay taken after its request is gone: a foreign one for a year; a native one for as long as its
 * own time, which its maker's clock may have put late, would not have it refused as too old.
 */
function tombstoneMs(requestId: string, retiredMs: number): number {
  const native = parseNativeRequestId(requestId);
  if (!native) return foreignTombstoneMs;
  return native.madeAtMs < retiredMs ? 0 : native.madeAtMs - retiredMs + 1000;
}
