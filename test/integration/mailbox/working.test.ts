import { keyOf } from '@placet/mailbox';
import type { RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  contentOf,
  decide,
  failureOf,
  nameOf,
  numbersOf,
  recordOf,
  rivalOf,
  type StoreWorld,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

const server = useStore({ reconcileAfterMs: 1 }, (opened) => {
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

const wake = () => world.mailbox.requests.wakeDue(world.team, 100);

/** Makes the reconciler look at a session now. */
async function dueNow(record: RequestRecord): Promise<void> {
  await world.handle.redis.zadd(keyOf(world.team, 'due'), 'XX', 1, `${teammate}:${record.sessionId}`);
}

describe('claiming', () => {
  it('[TM-16] holds the session and claims the work under one epoch', async () => {
    const record = await approved();
    const result = await claim(record);

    expect(result).toEqual({
      kind: 'held',
      lease: { sessionId: record.sessionId, epoch: 1, leftover: undefined },
    });
    expect((await recordOf(world, record)).work).toMatchObject({ state: 'claimed', epoch: 1 });
  });

  it('[TM-16] is granted to one of fifty that come at once', async () => {
    const record = await approved();
    const other = await rivalOf(world, server.url);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, place) =>
        (place % 2 === 0 ? world : other).mailbox.requests.claim(nameOf(record), `h${place}`, 60_000),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'busy')).toHaveLength(49);
    expect((await recordOf(world, record)).work.epoch).toBe(1);
    await other.close();
  });

  it('[TM-45] repeated by its holder answers the same epoch, and writes no history', async () => {
    const record = await approved();
    const first = await claim(record);
    const before = await numbersOf(world, 'audit');

    expect(await claim(record)).toEqual(first);
    expect(await numbersOf(world, 'audit')).toEqual(before);
  });

  it('[TM-8] [TM-16] goes over to the next under a later epoch once the lease lapsed, with what was left running', async () => {
    const record = await approved();
    const first = await claim(record, 'first');
    if (first.kind !== 'held') throw new Error('not held');
    const session = { team: world.team, teammate, sessionId: record.sessionId };
    await world.mailbox.tasks.change(session, first.lease, { running: '4711:12345' });
    await world.mailbox.requests.markApplied(nameOf(record), 1, 'acceptEdits');
    expect((await claim(record, 'second')).kind).toBe('busy');
    await lapseLease(record);

    expect(await claim(record, 'second')).toMatchObject({
      kind: 'held',
      lease: { epoch: 2, leftover: '4711:12345' },
    });
    const { work } = await recordOf(world, record);
    expect(work).toMatchObject({ state: 'claimed', epoch: 2 });
    expect(work.appliedAt).toBeUndefined();
    for (const late of [
      world.mailbox.requests.markApplied(nameOf(record), 1, 'acceptEdits'),
      world.mailbox.requests.settle(nameOf(record), { epoch: 1, state: 'done' }),
    ]) {
      expect((await failureOf(late)).code).toBe('epoch_stale');
    }
  });

  it('[TM-16] waits while the session is held for planning, and takes the epoch of its own lease', async () => {
    const { team, tasks } = { team: world.team, tasks: world.mailbox.tasks };
    const record = await approved();
    const session = { team, teammate, sessionId: record.sessionId };
    await tasks.open(session, { task: 't', team, cwd: '/src', agent: 'codemod' });
    await tasks.hold(session, 'planner', 60_000);

    const busy = await claim(record, 'implementer');
    expect(busy.kind === 'busy' && busy.freeInMs).toBeGreaterThan(50_000);
    expect(await claim(record, 'planner')).toMatchObject({ kind: 'held', lease: { epoch: 1 } });
    expect((await tasks.get(session))?.phase).toBe('implementing');
  });

  it.each(['rejected', 'teleport'] as const)('[I1] is refused when the request is %s', async (outcome) => {
    const record = await submit(world);
    await decide(world, record, { outcome });
    const error = await failureOf(claim(record));
    expect([error.code, error.current?.state]).toEqual(['not_approved', outcome]);
  });

  it('[I1] is refused while the request is pending, unknown, or another teammate’s', async () => {
    const record = await submit(world);
    expect((await failureOf(claim(record))).code).toBe('not_approved');
    expect((await failureOf(claim({ ...record, requestId: 'unknown' }))).code).toBe('not_found');
    await decide(world, record);
    expect((await failureOf(claim({ ...record, teammate: 'worker-2' }))).code).toBe('not_found');
  });

  it('[I1] is refused for an approval that a later plan of the session took the place of', async () => {
    const record = await approved();
    const next = await submit(world, { sessionId: record.sessionId, planContent: 'another' });
    const error = await failureOf(claim(record));
    expect([error.code, error.current?.supersededBy]).toEqual(['superseded', next.requestId]);
  });

  it('[I1] is refused for what is not the latest request of its session, whatever else the store says', async () => {
    const record = await approved();
    await world.handle.redis.hset(keyOf(world.team, 'session', teammate, record.sessionId), 'rq', '=another');
    const error = await failureOf(claim(record));
    expect([error.code, error.current?.supersededBy]).toEqual(['superseded', 'another']);
  });

  it('[WR-28] is refused after notAfter: the approval is expired_unapplied, visible and void', async () => {
    const record = await approved({ notAfterMs: -1 });
    const error = await failureOf(claim(record));

    expect(error.code).toBe('expired_unapplied');
    expect(await recordOf(world, record)).toMatchObject({
      state: 'approved',
      work: { state: 'failed', reason: 'expired_unapplied', epoch: 0 },
    });
    expect(await world.handle.redis.zcard(keyOf(world.team, 'settled'))).toBe(1);
    expect(await world.handle.redis.zcard(keyOf(world.team, 'due'))).toBe(0);
  });

  it('[WR-28] begun in time may go on after notAfter, under a later epoch too', async () => {
    const record = await approved();
    await claim(record, 'first');
    const state = keyOf(world.team, 'requestState', teammate, record.requestId);
    await world.handle.redis.hset(state, 'na', 1);
    await lapseLease(record);
    expect(await claim(record, 'second')).toMatchObject({ kind: 'held', lease: { epoch: 2 } });
  });

  it('[TM-8] is refused once the work is settled', async () => {
    const record = await approved();
    await claim(record);
    await world.mailbox.requests.settle(nameOf(record), { epoch: 1, state: 'done' });
    expect((await failureOf(claim(record))).code).toBe('already_decided');
  });
});

describe('receipts', () => {
  it('[TM-11] are times on the record: delivered, applied with the mode in effect, settled', async () => {
    const record = await approved();
    await world.mailbox.requests.markDelivered(nameOf(record));
    await claim(record);
    await world.mailbox.requests.markApplied(nameOf(record), 1, 'default');
    const settlement = { epoch: 1, state: 'done', branch: 'placet/a', commit: 'c0ffee' } as const;
    const settled = await world.mailbox.requests.settle(nameOf(record), settlement);

    expect(settled).toMatchObject({
      delivery: { deliveredAt: expect.any(String) },
      work: {
        state: 'done',
        epoch: 1,
        effectiveMode: 'default',
        claimedAt: expect.any(String),
        appliedAt: expect.any(String),
        settledAt: expect.any(String),
      },
    });
    const { events } = await world.mailbox.events.read(world.team, '2-0', 10);
    expect(events.map(({ type, state }) => [type, state])).toEqual([
      ['work', 'delivered'],
      ['work', 'claimed'],
      ['work', 'applied'],
      ['work', 'done'],
    ]);
    expect(events.at(-1)).toMatchObject({ branch: 'placet/a' });
  });

  it('[TM-45] sent twice write once', async () => {
    const record = await approved();
    await world.mailbox.requests.markDelivered(nameOf(record));
    await claim(record);
    await world.mailbox.requests.markApplied(nameOf(record), 1, 'default');
    const before = await contentOf(world);

    await world.mailbox.requests.markDelivered(nameOf(record));
    await world.mailbox.requests.markApplied(nameOf(record), 1, 'default');
    expect(await contentOf(world)).toEqual(before);
  });

  it('[TM-11] are refused before there is a decision, and from a wrong epoch', async () => {
    const record = await submit(world);
    const { requests } = world.mailbox;
    expect((await failureOf(requests.markDelivered(nameOf(record)))).code).toBe('not_approved');
    await decide(world, record);
    expect((await failureOf(requests.markApplied(nameOf(record), 1, 'default'))).code).toBe('epoch_stale');
    expect((await failureOf(requests.markDelivered({ ...nameOf(record), requestId: 'unknown' }))).code).toBe(
      'not_found',
    );
  });
});

describe('settling', () => {
  it('[TM-16] [TM-45] happens once: its repetition is harmless, another end is refused', async () => {
    const record = await approved();
    await claim(record);
    const settle = (state: 'done' | 'failed', epoch = 1) =>
      world.mailbox.requests.settle(nameOf(record), { epoch, state, reason: 'r' });
    const settled = await settle('done');
    const before = await contentOf(world);

    expect(await settle('done')).toEqual(settled);
    expect((await failureOf(settle('failed'))).code).toBe('epoch_stale');
    expect((await failureOf(settle('done', 2))).code).toBe('epoch_stale');
    expect(await contentOf(world)).toEqual(before);
  });

  it('[TM-16] of two epochs that settle at once, only the one that claimed last does', async () => {
    const record = await approved();
    await claim(record, 'first');
    await lapseLease(record);
    await claim(record, 'second');
    const results = await Promise.allSettled(
      [1, 2].map((epoch) => world.mailbox.requests.settle(nameOf(record), { epoch, state: 'done' })),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('[TM-16] keeps the lease while a branch waits to be published, and lets go of it otherwise', async () => {
    const { team } = world;
    const record = await approved();
    const session = { team, teammate, sessionId: record.sessionId };
    await world.mailbox.tasks.open(session, { task: 't', team, cwd: '/src', agent: 'codemod' });
    const result = await claim(record);
    if (result.kind !== 'held') throw new Error('not held');
    const settlement = { epoch: 1, state: 'done', branch: 'placet/x', commit: 'c0ffee' } as const;
    await world.mailbox.requests.settle(nameOf(record), settlement);

    expect(await world.mailbox.tasks.get(session)).toMatchObject({
      phase: 'done',
      branch: 'placet/x',
      commit: 'c0ffee',
    });
    expect((await world.mailbox.tasks.hold(session, 'other', 1000)).kind).toBe('busy');
    await lapseLease(record);
    await dueNow(record);
    expect(await wake()).toBe(1);
    await world.mailbox.tasks.release(session, result.lease);
    expect(await world.handle.redis.zcard(keyOf(team, 'due'))).toBe(0);
  });
});
