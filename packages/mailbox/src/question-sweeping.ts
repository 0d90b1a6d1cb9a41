import { keyOf } from './keys.ts';
import type { QuestionName } from './question-codec.ts';
import { expireQuestion } from './question-ending.ts';
import type { QuestionReader } from './question-reader.ts';
import { runScript, storeCall, unknownReply } from './scripts.ts';
import { type DutyFence, fenceEpoch, fenceKey, type StoreContext } from './store-context.ts';
import { type Swept, sweep } from './sweep.ts';
import { dueMembers, surplusOf } from './sweep-members.ts';

/** One piece of a background duty for one team. */
interface Piece {
  team: string;
  limit: number;
  fence: DutyFence | undefined;
}

/** Ends questions whose deadline has passed. See `QuestionStore.expireDue`. */
export async function expireQuestions(
  context: StoreContext,
  reader: QuestionReader,
  { team, limit, fence }: Piece,
): Promise<number> {
  const overdue = await dueMembers(context, { team, index: 'questionDeadlines', limit });
  return sweep(overdue, async (requestId) => {
    const teammate = await askerOf(context, team, requestId);
    const parts = teammate === undefined ? undefined : await reader.stored({ team, teammate, requestId });
    const word = parts && (await expireQuestion(context, parts, fence));
    return word === 'ended' ? 'done' : word === 'deposed' ? 'stop' : 'skipped';
  });
}

/** Deletes questions that ended long ago, or are too many. See `QuestionStore.purge`. */
export async function purgeQuestions(
  context: StoreContext,
  reader: QuestionReader,
  { team, limit, fence }: Piece,
): Promise<number> {
  const { members, beforeMs } = await surplusOf(context, { team, index: 'endedQuestions', limit });
  return sweep(members, async (requestId) => {
    const teammate = (await askerOf(context, team, requestId)) ?? 'unknown';
    const name = { team, teammate, requestId };
    const sessionId = (await reader.stored(name))?.question.m.sessionId ?? '';
    return purgeQuestion(context, name, { sessionId, beforeMs, fence });
  });
}

/** Deletes what a session asked, whether it has ended or not: the session is gone. */
export async function purgeSessionQuestions(
  context: StoreContext,
  { team, teammate, sessionId }: { team: string; teammate: string; sessionId: string },
): Promise<void> {
  const key = keyOf(team, 'sessionQuestions', teammate, sessionId);
  const requestIds = await storeCall('reading the questions of a session', () =>
    context.redis.zrange(key, '0', '-1'),
  );
  for (const requestId of requestIds)
    await purgeQuestion(context, { team, teammate, requestId }, { sessionId, fence: undefined });
}

async function askerOf(
  { redis }: StoreContext,
  team: string,
  requestId: string,
): Promise<string | undefined> {
  const key = keyOf(team, 'questionAsker', requestId);
  return (await storeCall('reading who asked', () => redis.get(key))) ?? undefined;
}

async function purgeQuestion(
  context: StoreContext,
  { team, teammate, requestId }: QuestionName,
  { sessionId, beforeMs, fence }: { sessionId: string; beforeMs?: number; fence: DutyFence | undefined },
): Promise<Swept> {
  const keys = [
    keyOf(team, 'question', teammate, requestId),
    keyOf(team, 'questionEnd', teammate, requestId),
    keyOf(team, 'questionAsker', requestId),
    keyOf(team, 'openQuestions'),
    keyOf(team, 'questionDeadlines'),
    keyOf(team, 'endedQuestions'),
    keyOf(team, 'sessionQuestions', teammate, sessionId),
    keyOf(team, 'teammateQuestions', teammate),
    fenceKey(team, fence),
  ];
  const args = [requestId, beforeMs ?? '', fenceEpoch(fence)];
  const reply = await runScript(context, 'purge-question', keys, args);
  switch (reply.word) {
    case 'purged':
      return 'done';
    case 'kept':
      return 'skipped';
    case 'deposed':
      return 'stop';
    default:
      return unknownReply('purge-question', reply);
  }
}
