import { keyOf } from '@placet/mailbox';
import { newRequestId, type RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  decide,
  failureOf,
  passDeadline,
  recordOf,
  type StoreWorld,
  submit,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

useStore({}, (opened) => {
  world = opened;
});

/** Submits one after another, so that their order is known; the newest first. */
async function submitMany(
  count: number,
  changes: Parameters<typeof submit>[1] = {},
): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  for (let place = 0; place < count; place += 1) records.unshift(await submit(world, changes));
  return records;
}

const idsOf = (records: { requestId: string }[]) => records.map(({ requestId }) => requestId);

/** All pages, each with what happens before the next is read. */
async function pages(
  query: Parameters<typeof world.mailbox.requests.list>[1],
  between?: (page: number) => Promise<void>,
) {
  const found: RequestRecord[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const answer = await world.mailbox.requests.list(world.team, { ...query, cursor });
    found.push(...answer.requests);
    cursor = answer.nextCursor;
    if (cursor === undefined) return found;
    await between?.(page);
  }
}

describe('listing', () => {
  it('[WR-33] leaves out what somebody made unreadable, and only that', async () => {
    const [newest, broken, oldest] = await submitMany(3);
    const key = keyOf(world.team, 'request', broken?.teammate ?? '', broken?.requestId ?? '');
    await world.handle.redis.set(key, 'x');
    expect(idsOf(await pages({ limit: 2 }))).toEqual([newest?.requestId, oldest?.requestId]);
    const alone = world.mailbox.requests.get(world.team, broken?.requestId ?? '');
    expect(await failureOf(alone)).toMatchObject({ code: 'internal' });
  });

  it('[WR-33] is newest first over pending and ended requests, with records as they stand alone', async () => {
    const records = await submitMany(7);
    for (const place of [1, 4]) await decide(world, records[place] as RequestRecord); // there are seven
    const listed = await pages({ limit: 3 });

    expect(idsOf(listed)).toEqual(idsOf(records));
    for (const record of listed) expect(record).toEqual(await recordOf(world, record));
  });

  it('[WR-33] ends with no cursor when the last page is full', async () => {
    const records = await submitMany(4);
    const first = await world.mailbox.requests.list(world.team, { limit: 2 });
    const second = await world.mailbox.requests.list(world.team, { limit: 2, cursor: first.nextCursor });
    expect([first.nextCursor !== undefined, second.nextCursor]).toEqual([true, undefined]);
    expect(idsOf([...first.requests, ...second.requests])).toEqual(idsOf(records));
    expect(await world.mailbox.requests.list(`${world.team}-none`, { limit: 2 })).toEqual({ requests: [] });
  });

  it('[WR-33] misses and repeats nothing while requests arrive and end between the pages', async () => {
    const records = await submitMany(20);
    const listed = await pages({ limit: 3 }, async (page) => {
      await submit(world);
      const [next] = records.slice(3 * page + 1);
      if (next) await decide(world, next, { outcome: 'rejected' });
    });
    expect(idsOf(listed)).toEqual(idsOf(records));
  });

  it('[WR-33] misses none that ends while it is read', async () => {
    const records = await submitMany(60);
    const [listed] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => pages({ limit: 50 }))),
      Promise.all(records.map((record) => decide(world, record))),
    ]);
    for (const found of listed) expect(idsOf(found)).toEqual(idsOf(records));
  });

  it('[WR-33] keeps to a state', async () => {
    const records = await submitMany(6);
    const [, second, , fourth] = records as [RequestRecord, RequestRecord, RequestRecord, RequestRecord]; // there are six
    await decide(world, second);
    await decide(world, fourth, { outcome: 'rejected' });

    expect(idsOf(await pages({ limit: 2, state: 'approved' }))).toEqual([second.requestId]);
    expect(idsOf(await pages({ limit: 2, state: 'rejected' }))).toEqual([fourth.requestId]);
    expect(await pages({ limit: 2, state: 'pending' })).toHaveLength(4);
    expect(await pages({ limit: 2, state: 'teleport' })).toEqual([]);
  });

  it('[WR-33] keeps to a teammate, foreign IDs included', async () => {
    const other = await submitMany(130, { teammate: 'worker-2' });
    const mine = [await submit(world), await submit(world, { requestId: 'foreign-1' })].reverse();
    await submitMany(130, { teammate: 'worker-2' });
    const foreign = await submit(world, { requestId: 'foreign-2', teammate: 'worker-2' });

    expect(idsOf(await pages({ limit: 50, teammate: 'worker-1' }))).toEqual(idsOf(mine));
    const theirs = idsOf(await pages({ limit: 50, teammate: 'worker-2' }));
    expect(theirs[0]).toBe(foreign.requestId);
    expect(theirs).toHaveLength(261);
    expect(theirs.slice(-130)).toEqual(idsOf(other));
  });

  it('[WR-24] shows what is past its deadline as timed out, and not as pending', async () => {
    const [first, second] = (await submitMany(2)) as [RequestRecord, RequestRecord]; // there are two
    await passDeadline(world, second);
    expect(idsOf(await pages({ limit: 10, state: 'pending' }))).toEqual([first.requestId]);
    expect(idsOf(await pages({ limit: 10, state: 'timeout' }))).toEqual([second.requestId]);
  });

  it.each(['', 'x', '-1', '1.5', '9'.repeat(16), newRequestId('worker-1', 'acme')])(
    '[WR-33] refuses the cursor "%s", which no page gave',
    async (cursor) => {
      const error = await failureOf(world.mailbox.requests.list(world.team, { limit: 1, cursor }));
      expect([error.code, error.issues?.[0]?.path]).toEqual(['validation_failed', 'cursor']);
    },
  );
});
