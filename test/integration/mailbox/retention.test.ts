import { keyOf } from '@placet/mailbox';
import { digestOfText, newSessionId } from '@placet/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import {
  commandOf,
  contentOf,
  decide,
  failureOf,
  nameOf,
  openStore,
  passDeadline,
  recordOf,
  rivalOf,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
} from './store-world.ts';

let server: TestRedis;
let world: StoreWorld;
/** The same team, seen by a process that keeps nothing for longer than a millisecond. */
let forgetful: StoreWorld;

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  world = await openStore(server.url);
  forgetful = await rivalOf(world, server.url, { retentionMs: 1 });
  return async () => {
    await forgetful.close();
    await world.close();
  };
});
afterAll(() => server.stop());

/** Purges until as many are gone. */
async function purge(count: number): Promise<void> {
  let purged = 0;
  await eventually(async () => {
    purged += await forgetful.mailbox.requests.purge(world.team, 100);
    return purged >= count;
  });
  expect(await forgetful.mailbox.requests.purge(world.team, 100)).toBe(0);
}

const kinds = async () =>
  Object.keys(await contentOf(world))
    .map((key) => key.split(':').slice(2, 4).join(':'))
    .filter((kind) => !/^log:(events|audit|outbox|seq)$/.test(kind));

describe('retention', () => {
  it('[TM-42] [ST-9] leaves nothing of what is settled', async () => {
    const rejected = await submit(world, { planContent: 'one' });
    await decide(world, rejected, { outcome: 'rejected' });
    const done = await submit(world, { planContent: 'two' });
    await decide(world, done, { editedPlan: 'edited' });
    await world.mailbox.requests.claim(nameOf(done), 'h', 60_000);
    await world.mailbox.requests.settle(nameOf(done), { epoch: 1, state: 'done' });
    const timedOut = await submit(world, { planContent: 'three' });
    await passDeadline(world, timedOut);
    await world.mailbox.requests.expireDue(world.team, 10);
    await world.mailbox.requests.withdraw(nameOf(await submit(world, { planContent: 'four' })));
    await world.mailbox.inboxes.acknowledge(
      world.team,
      teammate,
      (await world.mailbox.inboxes.take(world.team, teammate, 10)).map(({ id }) => id),
    );
    await purge(4);

    expect(await kinds()).toEqual([`m.${teammate}:inbox`]);
    expect(await world.mailbox.requests.get(world.team, done.requestId)).toBeUndefined();
    expect((await world.mailbox.requests.list(world.team, { limit: 10 })).requests).toEqual([]);
  });

  it('[TM-42] never takes what is pending, or approved and not settled', async () => {
    const pending = await submit(world);
    const approved = await submit(world);
    await decide(world, approved);
    const claimed = await submit(world);
    await decide(world, claimed);
    await world.mailbox.requests.claim(nameOf(claimed), 'h', 60_000);
    const content = async () => {
      const { [keyOf(world.team, 'events')]: _, ...others } = await contentOf(world);
      return others;
    };
    const before = await content();
    await eventually(async () => {
      const [seconds = 0, micros = 0] = (await world.handle.redis.time()).map(Number);
      return seconds * 1000 + micros / 1000 > Date.parse(claimed.submittedAt) + 20;
    });

    expect(await forgetful.mailbox.requests.purge(world.team, 100)).toBe(0);
    expect(await content()).toEqual(before);
    for (const record of [pending, approved, claimed]) await recordOf(world, record);
  });

  it('[ST-9] takes nothing before its time', async () => {
    const record = await submit(world);
    await decide(world, record, { outcome: 'rejected' });
    expect(await world.mailbox.requests.purge(world.team, 100)).toBe(0);
    await recordOf(world, record);
  });

  it('[I2] [ST-9] never frees an ID again: a native one is too old, a foreign one has a tombstone', async () => {
    const native = submissionOf(world);
    const foreign = submissionOf(world, { requestId: 'foreign-1' });
    for (const submission of [native, foreign]) {
      const { record } = await world.mailbox.requests.submit(commandOf(world, submission));
      await world.mailbox.requests.withdraw(nameOf(record));
    }
    await purge(2);

    const refused = (submission: typeof native, store = forgetful) =>
      failureOf(store.mailbox.requests.submit(commandOf(world, submission)));
    await eventually(
      async () =>
        (await world.handle.redis.exists(keyOf(world.team, 'foreignRequest', native.requestId))) === 0,
    );
    expect((await refused(native)).code).toBe('validation_failed');
    expect((await refused(foreign)).code).toBe('request_conflict');
    const yearMs = 365 * 24 * 60 * 60 * 1000;
    const left = await world.handle.redis.pttl(keyOf(world.team, 'foreignRequest', 'foreign-1'));
    expect(left).toBeGreaterThan(yearMs - 60_000);
    expect(await world.mailbox.requests.get(world.team, 'foreign-1')).toBeUndefined();
  });

  it('[I2] keeps a native ID taken whose maker’s clock is ahead', async () => {
    const ahead = Date.now() + 60 * 60 * 1000;
    const hex = ahead.toString(16).padStart(12, '0');
    const requestId = `plan_approval-${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab@${teammate}@${world.team}`;
    await world.mailbox.requests.withdraw(nameOf(await submit(world, { requestId })));
    await purge(1);

    const error = await failureOf(
      forgetful.mailbox.requests.submit(commandOf(world, submissionOf(world, { requestId }))),
    );
    expect(error.code).toBe('request_conflict');
    const left = await world.handle.redis.pttl(keyOf(world.team, 'foreignRequest', requestId));
    expect(left).toBeGreaterThan(59 * 60 * 1000);
  });

  it('[TM-43] keeps a plan for as long as a request refers to it', async () => {
    const digest = digestOfText('shared');
    const kept = await submit(world, { planContent: 'shared' });
    for (let other = 0; other < 2; other += 1) {
      await world.mailbox.requests.withdraw(nameOf(await submit(world, { planContent: 'shared' })));
    }
    await purge(2);
    expect(await world.mailbox.requests.planBytes(world.team, digest)).toEqual(Buffer.from('shared'));
    await world.mailbox.requests.withdraw(nameOf(kept));
    await purge(1);
    expect(await world.mailbox.requests.planBytes(world.team, digest)).toBeUndefined();
  });

  it('[TM-42] keeps the session of a task that is not over, and takes one that ended without a request', async () => {
    const { team, mailbox } = world;
    const names = ['running', 'ended'].map(() => ({ team, teammate, sessionId: newSessionId() }));
    for (const name of names)
      await mailbox.tasks.open(name, { task: 't', team, cwd: '/src', agent: 'codemod' });
    const [running, ended] = names as [(typeof names)[0], (typeof names)[0]]; // there are two
    await mailbox.requests.withdraw(nameOf(await submit(world, { sessionId: running.sessionId })));
    const result = await mailbox.tasks.hold(ended, 'h', 60_000);
    if (result.kind !== 'held') throw new Error('not held');
    await mailbox.tasks.change(ended, result.lease, { phase: 'failed', reason: 'plan_required' });
    await mailbox.tasks.release(ended, result.lease);
    await purge(2);

    expect(await mailbox.tasks.get(ended)).toBeUndefined();
    expect(await mailbox.tasks.get(running)).toMatchObject({ phase: 'awaiting_approval' });
    expect((await mailbox.tasks.get(running))?.requestId).toBeUndefined();
  });

  it('[TM-42] keeps a task that ended without a request and was resumed', async () => {
    const { team, mailbox } = world;
    const name = { team, teammate, sessionId: newSessionId() };
    await mailbox.tasks.open(name, { task: 't', team, cwd: '/src', agent: 'codemod' });
    const result = await mailbox.tasks.hold(name, 'h', 60_000);
    if (result.kind !== 'held') throw new Error('not held');
    await mailbox.tasks.change(name, result.lease, { phase: 'failed', reason: 'plan_required' });
    await mailbox.tasks.change(name, result.lease, { phase: 'planning' });
    await mailbox.tasks.release(name, result.lease);
    await eventually(async () => {
      await forgetful.mailbox.requests.purge(team, 100);
      return (await world.handle.redis.zcard(keyOf(team, 'endedTasks'))) === 0;
    });
    expect(await mailbox.tasks.get(name)).toMatchObject({ phase: 'planning' });
  });

  it('[TM-42] [ST-6] takes old events away, and tells a reader that was there to start anew', async () => {
    const record = await submit(world);
    await decide(world, record, { outcome: 'rejected' });
    const events = keyOf(world.team, 'events');
    await eventually(async () => {
      await forgetful.mailbox.requests.purge(world.team, 100);
      return (await world.handle.redis.xlen(events)) === 0;
    });
    await submit(world);
    await world.mailbox.requests.purge(world.team, 100);

    const { events: left } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(left.map(({ id, type }) => [id, type])).toEqual([['3-0', 'plan:proposed']]);
    expect((await world.mailbox.events.read(world.team, '1-0', 10)).reset).toBe(true);
    expect((await world.mailbox.events.read(world.team, '2-0', 10)).reset).toBe(false);
  });
});
