import { isPlacetError, type RequestPage, type RequestRecord, type RequestState } from '@placet/protocol';
import { keyOf } from './keys.ts';
import { readCursor } from './page-cursor.ts';
import { type StoredParts, toRecord } from './request-codec.ts';
import type { RequestName, RequestReader } from './request-reader.ts';
import { expireOverdue } from './request-sweeping.ts';
import { scoredMembers } from './scored-members.ts';
import { execAll } from './scripts.ts';
import type { StoreContext } from './store-context.ts';

/** What to list (WR-33). */
export interface ListQuery {
  state?: RequestState | undefined;
  teammate?: string | undefined;
  /** Where to go on, as a former page said. */
  cursor?: string | undefined;
  limit: number;
}

/** How many requests one page looks at before it is given back as it is, perhaps short, with a cursor. */
const maxLookedAt = 2000;
/** How many requests past their deadline a listing ends before it reads. */
const maxExpired = 200;

/**
 * A page of requests, newest first: by inbox number, which a request keeps when it ends (WR-33). A page may be short,
 * even empty, and still have a successor, where few requests match. See `RequestStore.list`.
 */
export async function listRequests(
  context: StoreContext,
  reader: RequestReader,
  team: string,
  query: ListQuery,
): Promise<RequestPage> {
  await expireOverdue(context, reader, team, maxExpired);
  const requests: RequestRecord[] = [];
  const isFiltered = query.teammate !== undefined || (query.state ?? 'pending') !== 'pending';
  const batchSize = isFiltered ? Math.max(query.limit, 100) : query.limit;
  const cursor = readCursor(query.cursor, 'requests');
  let before = cursor === undefined ? '+inf' : `(${cursor}`;
  for (let lookedAt = 0; lookedAt < maxLookedAt; ) {
    const entries = await readIndexes(context, team, { before, size: batchSize + 1, state: query.state });
    const batch = entries.slice(0, batchSize);
    for (const { number, record } of await readBatch(context, reader, { team, batch, query })) {
      before = `(${number}`;
      if (record) requests.push(record);
      if (requests.length === query.limit) {
        const isLast = number === entries.at(-1)?.number;
        return { requests, ...(!isLast && { nextCursor: String(number) }) };
      }
    }
    if (entries.length <= batchSize) return { requests };
    lookedAt += batch.length;
  }
  return { requests, nextCursor: before.slice(1) };
}

/** How much waits for a team's leads. */
export interface PendingLoad {
  count: number;
  /** The request that has waited longest; undefined where none waits. */
  oldest: string | undefined;
}

/** How many requests of a team are pending, and which of them is the oldest. See `RequestStore.pendingLoad`. */
export async function readPendingLoad(context: StoreContext, team: string): Promise<PendingLoad> {
  const key = keyOf(team, 'pending');
  const [count, oldest] = await execAll(
    'counting pending requests',
    context.redis.pipeline().zcard(key).zrange(key, '0', '0'),
  );
  return { count: Number(count), oldest: Array.isArray(oldest) ? oldest.map(String)[0] : undefined };
}

interface IndexEntry {
  requestId: string;
  /** Its inbox number. */
  number: number;
}

/** The records of a part of the index that match, in its order; the others as undefined. */
async function readBatch(
  context: StoreContext,
  reader: RequestReader,
  { team, batch, query }: { team: string; batch: IndexEntry[]; query: ListQuery },
): Promise<{ number: number; record: RequestRecord | undefined }[]> {
  const teammates = await reader.teammatesOf(
    team,
    batch.map(({ requestId }) => requestId),
  );
  const wanted = batch.flatMap(({ requestId }, place) => {
    const teammate = teammates[place];
    return teammate !== undefined && (query.teammate ?? teammate) === teammate
      ? [{ requestId, teammate }]
      : [];
  });
  const records = new Map<string, RequestRecord>();
  for (const parts of wanted.length > 0 ? await readReadable(context, reader, team, wanted) : []) {
    if (parts && (query.state ?? parts.fields.st) === parts.fields.st)
      records.set(parts.requestId, toRecord(parts));
  }
  return batch.map(({ requestId, number }) => ({ number, record: records.get(requestId) }));
}

/** One record that cannot be read hides no other: it is left out and logged, and its own route says what is wrong. */
async function readReadable(
  { log }: StoreContext,
  reader: RequestReader,
  team: string,
  names: Omit<RequestName, 'team'>[],
): Promise<(StoredParts | undefined)[]> {
  const isUnreadable = (thrown: unknown) => isPlacetError(thrown, 'internal', 'too_new');
  try {
    return await reader.fresh(team, names);
  } catch (thrown) {
    if (!isUnreadable(thrown)) throw thrown;
  }
  const found: (StoredParts | undefined)[] = [];
  for (const name of names) {
    try {
      found.push(...(await reader.fresh(team, [name])));
    } catch (thrown) {
      if (!isUnreadable(thrown)) throw thrown;
      log.error(
        { team, requestId: name.requestId, err: thrown },
        'a request cannot be read and is not listed',
      );
    }
  }
  return found;
}

/** The newest of pending and ended requests below a number, read in one step: none is missed while it ends. */
async function readIndexes(
  context: StoreContext,
  team: string,
  { before, size, state }: { before: string; size: number; state: RequestState | undefined },
): Promise<IndexEntry[]> {
  const transaction = context.redis.multi();
  const add = (name: 'pending' | 'ended') =>
    transaction.zrevrangebyscore(keyOf(team, name), before, '-inf', 'WITHSCORES', 'LIMIT', 0, size);
  if (state === undefined || state === 'pending') add('pending');
  if (state !== 'pending') add('ended');
  const results = await execAll('listing requests', transaction);
  return results
    .flatMap(scoredMembers)
    .map(({ member, score }) => ({ requestId: member, number: score }))
    .sort((left, right) => right.number - left.number)
    .slice(0, size);
}
