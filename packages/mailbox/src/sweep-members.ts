import { keyOf } from './keys.ts';
import { execAll, storeCall } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { storeTimeMs } from './store-time.ts';

/** What of an index is to be deleted. */
export interface Surplus {
  /** The oldest, at most as many as were asked for. */
  members: string[];
  /** When the last of them may have been settled, in milliseconds since the epoch. */
  beforeMs: number;
  /** What was settled before this time is past the retention, in milliseconds since the epoch. */
  retiredMs: number;
}

/** What is older than the retention or, where more than its count is left, the oldest of that. */
export async function surplusOf(
  context: StoreContext,
  { team, index, limit }: { team: string; index: 'settled' | 'endedTasks' | 'endedQuestions'; limit: number },
): Promise<Surplus> {
  const nowMs = await storeNowMs(context, keyOf(team, index));
  const retiredMs = nowMs - context.retentionMs;
  const key = keyOf(team, index);
  const batch = context.redis.pipeline();
  batch.zcard(key).zrangebyscore(key, '-inf', retiredMs, 'LIMIT', 0, limit);
  const [kept, retired] = await execAll('reading what is settled', batch);
  const members = Array.isArray(retired) ? retired.map(String) : [];
  const surplus = Math.min(Number(kept) - context.retentionCount, limit);
  if (surplus <= members.length) return { members, beforeMs: retiredMs, retiredMs };
  const oldest = await storeCall('reading what is too many', () =>
    context.redis.zrange(key, 0, String(surplus - 1)),
  );
  return { members: oldest, beforeMs: nowMs, retiredMs };
}

/** Members whose score is at most the store's time. */
export async function dueMembers(
  context: StoreContext,
  { team, index, limit }: { team: string; index: 'deadlines' | 'due' | 'questionDeadlines'; limit: number },
): Promise<string[]> {
  const until = await storeNowMs(context, keyOf(team, index));
  const batch = context.redis.pipeline();
  batch.zrangebyscore(keyOf(team, index), '-inf', until, 'LIMIT', 0, limit);
  const [members] = await execAll('reading what is due', batch);
  return Array.isArray(members) ? members.map(String) : [];
}

/** The time of the node that has this key: in a Cluster each has its own. */
async function storeNowMs({ redis }: StoreContext, key: string): Promise<number> {
  const [time] = await execAll('reading the time', redis.multi().time().exists(key));
  return storeTimeMs(time);
}
