import { keyOf } from '@placet/mailbox';
import { newSessionId, type RequestRecord } from '@placet/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import {
  commandOf,
  decide,
  failureOf,
  nameOf,
  openStore,
  recordOf,
  rivalOf,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
} from './store-world.ts';

let server: TestRedis;
let world: StoreWorld;
/** The same team, seen by a process that keeps two settled requests, tasks and events. */
let frugal: StoreWorld;

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  world = await openStore(server.url);
  frugal = await rivalOf(world, server.url, { retentionCount: 2 });
  return async () => {
    await frugal.close();
    await world.close();
  };
});
afterAll(() => server.stop());

const purge = (limit = 100) => frugal.mailbox.requests.purge(world.team, limit);

async function rejected(planContent: string): Promise<RequestRecord> {
  const record = await submit(world, { planContent });
  await decide(world, record, { outcome: 'rejected' });
  return record;
}

/** Which of these are still there. */
async function kept(records: RequestRecord[]): Promise<boolean[]> {
  const found = records.map(({ requestId }) => world.mailbox.requests.get(world.team, requestId));
  return (await Promise.all(found)).map((record) => record !== undefined);
}

describe('retention by count', () => {
  it('[TM-42] keeps the youngest settled requests, and leaves nothing of the others', async () => {
    const records = [await rejected('a'), await rejected('b'), await rejected('c'), await rejected('d')];

    expect(await purge()).toBe(2);
    expect(await kept(records)).toEqual([false, false, true, true]);
    const [oldest] = records;
    if (!oldest) throw new Error('there is no oldest');
    expect(await world.mailbox.requests.planBytes(world.team, oldest.plan.digest)).toBeUndefined();
    expect(await purge()).toBe(0);
  });

  it('[TM-42] takes the oldest first, at most as many at once as it is told', async () => {
    const records = [await rejected('a'), await rejected('b'), await rejected('c'), await rejected('d')];

    expect(await purge(1)).toBe(1);
    expect(await kept(records)).toEqual([false, true, true, true]);
    expect(await purge(1)).toBe(1);
    expect(await purge(1)).toBe(0);
    expect(await kept(records)).toEqual([false, false, true, true]);
  });

  it('[TM-42] never takes what is pending, or approved and not settled, however many there are', async () => {
    const pending = [await submit(world), await submit(world), await submit(world)];
    const approved = [await submit(world), await submit(world), await submit(world)];
    for (const record of approved) await decide(world, record);
    const [claimed] = approved;
    if (claimed) await world.mailbox.requests.claim(nameOf(claimed), 'h', 60_000);
    const records = [await rejected('a'), await rejected('b'), await rejected('c')];

    expect(await purge()).toBe(1);
    for (const record of [...pending, ...approved]) await recordOf(world, record);
    expect(await kept(records)).toEqual([false, true, true]);
  });

  it('[I2] [ST-9] never frees an ID again, though its time has not come', async () => {
    const submission = submissionOf(world);
    const { record } = await world.mailbox.requests.submit(commandOf(world, submission));
    await world.mailbox.requests.withdraw(nameOf(record));
    await rejected('b');
    await rejected('c');
    expect(await purge()).toBe(1);

    const { code } = await failureOf(frugal.mailbox.requests.submit(commandOf(world, submission)));
    expect(code).toBe('request_conflict');
    const retentionMs = 30 * 24 * 60 * 60 * 1000;
    const left = await world.handle.redis.pttl(keyOf(world.team, 'foreignRequest', record.requestId));
    expect(Math.abs(left - retentionMs)).toBeLessThan(60_000);
  });

  it('[TM-42] bounds tasks that ended without a request', async () => {
    for (let place = 0; place < 3; place += 1) {
      const name = { team: world.team, teammate, sessionId: newSessionId() };
      await world.mailbox.tasks.open(name, { task: 't', team: world.team, cwd: '/src', agent: 'codemod' });
      const held = await world.mailbox.tasks.hold(name, 'h', 60_000);
      if (held.kind !== 'held') throw new Error('the session is not free');
      await world.mailbox.tasks.change(name, held.lease, { phase: 'failed', reason: 'plan_required' });
      await world.mailbox.tasks.release(name, held.lease);
    }
    expect(await purge()).toBe(1);
    expect(await world.handle.redis.zcard(keyOf(world.team, 'endedTasks'))).toBe(2);
  });

  it('[TM-42] [ST-6] keeps the youngest events under their numbers, and tells a reader of older ones', async () => {
    await rejected('a');
    await rejected('b');
    await purge();

    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events.map(({ id }) => id)).toEqual(['3-0', '4-0']);
    expect((await world.mailbox.events.read(world.team, '1-0', 10)).reset).toBe(true);
    expect((await world.mailbox.events.read(world.team, '2-0', 10)).reset).toBe(false);
  });
});
