import { keyOf } from '@placet/mailbox';
import type { RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  decide,
  entriesOf,
  gapless,
  nameOf,
  numbersOf,
  recordOf,
  type StoreWorld,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

useStore({ reconcileAfterMs: 1 }, (opened) => {
  world = opened;
});

async function approved(how: { notAfterMs?: number } = {}): Promise<RequestRecord> {
  const record = await submit(world);
  await decide(world, record, how);
  return record;
}

const claim = (record: RequestRecord, holder = 'h', leaseMs = 60_000) =>
  world.mailbox.requests.claim(nameOf(record), holder, leaseMs);

/** Lets the lease of a session lapse, as the passing of time does. */
async function lapseLease(record: RequestRecord): Promise<void> {
  await world.handle.redis.hset(keyOf(world.team, 'session', teammate, record.sessionId), 'lu', 1);
}

/** Makes the reconciler look at a session now. */
async function dueNow(record: RequestRecord): Promise<void> {
  await world.handle.redis.zadd(keyOf(world.team, 'due'), 'XX', 1, `${teammate}:${record.sessionId}`);
}

const wake = () => world.mailbox.requests.wakeDue(world.team, 100);

describe('the reconciler', () => {
  const wakes = async () =>
    (await entriesOf(world, keyOf(world.team, 'outbox'))).map(({ s, w }) => `${s} ${w}`);

  it('[TM-5] wakes again what is approved and unclaimed, under a number that rises', async () => {
    const record = await approved();
    await eventually(async () => (await wake()) === 1);
    await eventually(async () => (await wake()) === 1);

    expect(await wakes()).toEqual([1, 2, 3].map((number) => `${record.sessionId} ${number}`));
    expect((await numbersOf(world, 'outbox')).ids).toEqual(gapless(3));
  });

  it('[TM-5] leaves alone what is held, and wakes it when the lease has lapsed', async () => {
    const record = await approved();
    await claim(record, 'h', 60_000);
    await dueNow(record);
    expect(await wake()).toBe(0);
    await lapseLease(record);
    await dueNow(record);
    expect(await wake()).toBe(1);
  });

  it('[WR-28] ends an approval that was not claimed in time, instead of waking it', async () => {
    const record = await approved({ notAfterMs: -1 });
    await dueNow(record);
    expect(await wake()).toBe(0);
    expect((await recordOf(world, record)).work.reason).toBe('expired_unapplied');
  });

  it('[TM-5] wakes a task that was rejected and not planned again, or whose planning died', async () => {
    const { team } = world;
    const rejected = await submit(world);
    await decide(world, rejected, { outcome: 'rejected' });
    for (const sessionId of [rejected.sessionId, 'only-opened']) {
      await world.mailbox.tasks.open(
        { team, teammate, sessionId },
        { task: 't', team, cwd: '/src', agent: 'codemod' },
      );
    }
    await eventually(async () => {
      await wake();
      return new Set((await wakes()).map((line) => line.split(' ')[0])).size === 2;
    });
  });

  it('[I7] [TM-5] does nothing for what is parked, and nothing when all is done', async () => {
    const { team } = world;
    const sessionId = 'parked';
    await world.mailbox.tasks.open(
      { team, teammate, sessionId },
      { task: 't', team, cwd: '/src', agent: 'codemod' },
    );
    await submit(world, { sessionId });
    expect(await world.handle.redis.zcard(keyOf(team, 'due'))).toBe(0);
    const record = await approved();
    await claim(record);
    await world.mailbox.requests.settle(nameOf(record), { epoch: 1, state: 'done' });
    expect(await world.handle.redis.zcard(keyOf(team, 'due'))).toBe(0);
  });

  it('[ST-7] does nothing once another process has the duty', async () => {
    const { duties, requests } = world.mailbox;
    const epoch = await duties.lease(world.team, 'reconcile', 'first', 1);
    if (epoch === undefined) throw new Error('no lease');
    await eventually(
      async () => (await duties.lease(world.team, 'reconcile', 'second', 60_000)) !== undefined,
    );
    const record = await approved();
    await dueNow(record);

    expect(await requests.wakeDue(world.team, 10, { duty: 'reconcile', epoch })).toBe(0);
    expect(await requests.wakeDue(world.team, 10, { duty: 'reconcile', epoch: epoch + 1 })).toBe(1);
  });
});
