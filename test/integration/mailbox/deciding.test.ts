import { randomUUID } from 'node:crypto';
import { keyOf } from '@placet/mailbox';
import { digestOfText, type RequestRecord, toTimestamp } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  commitOf,
  contentOf,
  decide,
  entriesOf,
  nameOf,
  passDeadline,
  recordOf,
  reserve,
  type StoreWorld,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

useStore({}, (opened) => {
  world = opened;
});

const reservation = (record: RequestRecord, token = randomUUID()) => ({
  ...nameOf(record),
  planDigest: record.plan.digest,
  token,
});

/** Lets a reservation lapse, as the passing of 5 s does. */
async function lapse(record: RequestRecord): Promise<void> {
  await world.handle.redis.hset(keyOf(world.team, 'requestState', teammate, record.requestId), 'ru', 1);
}

describe('reserving', () => {
  it('[WR-20] answers the time of the store, and decides nothing', async () => {
    const record = await submit(world);
    const [seconds, micros] = (await world.handle.redis.time()).map(Number);
    const { nowMs } = await reserve(world, record);

    expect(nowMs).toBeGreaterThanOrEqual((seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000));
    expect(await recordOf(world, record)).toEqual(record);
  });

  it('[WR-20] [TM-45] repeated with its token answers the same time; another is told to wait', async () => {
    const record = await submit(world);
    const command = reservation(record);
    const first = await world.mailbox.requests.reserve(command);
    expect(await world.mailbox.requests.reserve(command)).toEqual(first);
    const rival = await world.mailbox.requests.reserve(reservation(record));

    expect(rival.kind).toBe('busy');
    expect(rival.kind === 'busy' && rival.freeInMs).toBeGreaterThan(4000);
    expect(rival.kind === 'busy' && rival.freeInMs).toBeLessThanOrEqual(5000);
  });

  it('[WR-20] is granted to one of fifty that come at once', async () => {
    const record = await submit(world);
    const results = await Promise.all(
      Array.from({ length: 50 }, () => world.mailbox.requests.reserve(reservation(record))),
    );
    expect(results.filter(({ kind }) => kind === 'reserved')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'busy')).toHaveLength(49);
  });

  it('[WR-20] is granted again when the former reservation has lapsed, which then commits nothing', async () => {
    const record = await submit(world);
    const late = await reserve(world, record);
    await lapse(record);
    expect(await world.mailbox.requests.commit(commitOf(record, late))).toEqual({ kind: 'lapsed' });
    const timely = await reserve(world, record);

    expect(await world.mailbox.requests.commit(commitOf(record, late))).toEqual({ kind: 'lapsed' });
    expect((await recordOf(world, record)).state).toBe('pending');
    expect(await world.mailbox.requests.commit(commitOf(record, timely))).toEqual({ kind: 'committed' });
  });

  it('[WR-22] refuses another digest than that of the request', async () => {
    const record = await submit(world);
    const command = { ...reservation(record), planDigest: digestOfText('another') };
    expect(await world.mailbox.requests.reserve(command)).toEqual({ kind: 'stale' });
  });

  it('[WR-20] refuses when votes were cast that the decider has not seen', async () => {
    const record = await submit(world);
    await world.handle.redis.hset(keyOf(world.team, 'requestState', teammate, record.requestId), {
      v: 1,
      vt: 1,
    });
    expect(await world.mailbox.requests.reserve(reservation(record))).toEqual({ kind: 'gone' });
  });

  it('[WR-24] ends a request whose deadline has passed', async () => {
    const record = await submit(world);
    await passDeadline(world, record);

    expect(await world.mailbox.requests.reserve(reservation(record))).toEqual({ kind: 'gone' });
    expect((await entriesOf(world, keyOf(world.team, 'inbox', teammate))).map(({ r }) => r)).toEqual([
      record.requestId,
    ]);
  });

  it('knows of no request that is not there', async () => {
    const record = await submit(world);
    const command = { ...reservation(record), requestId: 'unknown' };
    expect(await world.mailbox.requests.reserve(command)).toEqual({ kind: 'absent' });
    const commit = { ...commitOf(record, { token: 't', nowMs: 0 }), requestId: 'unknown' };
    expect(await world.mailbox.requests.commit(commit)).toEqual({ kind: 'lapsed' });
  });
});

describe('committing', () => {
  it('[WR-20] writes decision, inbox entry, event, outbox entry, audit number and indexes in one step', async () => {
    const record = await submit(world);
    const { redis } = world.handle;
    const held = await reserve(world, record);
    const command = commitOf(record, held, { by: 'lead:ada' });
    await world.mailbox.requests.commit(command);

    const stored = await redis.get(keyOf(world.team, 'decision', record.requestId));
    expect(stored).toBe(JSON.stringify(command.decision));
    const decided = await recordOf(world, record);
    expect(decided).toEqual({
      ...record,
      state: 'approved',
      decision: command.decision,
      votes: [
        { by: 'lead:ada', outcome: 'approved', permissionMode: 'acceptEdits', at: toTimestamp(held.nowMs) },
      ],
    });
    expect(await entriesOf(world, keyOf(world.team, 'inbox', teammate))).toEqual([{ r: record.requestId }]);
    expect(await entriesOf(world, keyOf(world.team, 'outbox'))).toMatchObject([
      { t: teammate, s: record.sessionId, r: record.requestId, w: '1' },
    ]);
    const { events } = await world.mailbox.events.read(world.team, '1-0', 10);
    expect(events).toMatchObject([
      { id: '2-0', type: 'plan:decided', outcome: 'approved', permissionMode: 'acceptEdits', by: 'lead:ada' },
    ]);
    const audit = await world.mailbox.audit.read(world.team, 0, 10);
    expect(audit.map(({ seq, body }) => [seq, JSON.parse(body).act])).toEqual([
      [1, 'submitted'],
      [2, 'approved'],
    ]);
    expect(await redis.zcard(keyOf(world.team, 'pending'))).toBe(0);
    expect(await redis.zcard(keyOf(world.team, 'deadlines'))).toBe(0);
    expect(await redis.zrange(keyOf(world.team, 'ended'), '0', '-1')).toEqual([record.requestId]);
    expect(await redis.zrange(keyOf(world.team, 'due'), '0', '-1')).toEqual([
      `${teammate}:${record.sessionId}`,
    ]);
    expect(await redis.zcard(keyOf(world.team, 'settled'))).toBe(0);
  });

  it.each(['rejected', 'teleport'] as const)('[WR-20] of %s leaves nothing to be done', async (outcome) => {
    const record = await submit(world);
    await decide(world, record, { outcome });

    expect(await recordOf(world, record)).toMatchObject({ state: outcome, work: { state: 'none' } });
    expect(await world.handle.redis.zrange(keyOf(world.team, 'settled'), '0', '-1')).toEqual([
      record.requestId,
    ]);
    expect(await world.handle.redis.zcard(keyOf(world.team, 'due'))).toBe(0);
  });

  it('[TM-45] twice writes once', async () => {
    const record = await submit(world);
    const command = commitOf(record, await reserve(world, record));
    await world.mailbox.requests.commit(command);
    const before = await contentOf(world);

    expect(await world.mailbox.requests.commit(command)).toEqual({ kind: 'committed' });
    expect(await contentOf(world)).toEqual(before);
  });

  it.each(['a rival’s', 'no'])('[I2] under %s token writes nothing', async (whose) => {
    const record = await submit(world);
    if (whose !== 'no') await reserve(world, record);
    const before = await contentOf(world);

    expect(await world.mailbox.requests.commit(commitOf(record, { token: 'mine', nowMs: 1 }))).toEqual({
      kind: 'lapsed',
    });
    expect(await contentOf(world)).toEqual(before);
  });

  it('[I2] after another decision writes nothing', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    await world.mailbox.requests.commit(commitOf(record, held, { outcome: 'rejected' }));
    const before = await contentOf(world);

    expect(await world.mailbox.requests.commit(commitOf(record, held))).toEqual({ kind: 'lapsed' });
    expect(await contentOf(world)).toEqual(before);
  });

  it('[ST-4] keeps the plan as edited beside the plan as submitted', async () => {
    const record = await submit(world);
    await decide(world, record, { editedPlan: 'edited \u{feff}' });
    const { requests } = world.mailbox;

    expect(await requests.planBytes(world.team, digestOfText('edited \u{feff}'))).toEqual(
      Buffer.from('edited \u{feff}'),
    );
    expect((await requests.getWithPlan(world.team, record.requestId))?.planContent).toContain('Rename');
  });
});
