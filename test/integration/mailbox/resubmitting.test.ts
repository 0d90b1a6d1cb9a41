import { newSessionId } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  commandOf,
  contentOf,
  decide,
  failureOf,
  gapless,
  nameOf,
  numbersOf,
  passDeadline,
  recordOf,
  reserve,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

useStore({ rivalWaitMs: 200 }, (opened) => {
  world = opened;
});

describe('submitting again', () => {
  it('[WR-23] [ST-5] [TM-45] answers the same record, and writes nothing', async () => {
    const command = commandOf(world, submissionOf(world, { deadlineMs: 5000 }));
    const first = await world.mailbox.requests.submit(command);
    const before = await contentOf(world);
    const submission = {
      ...command.submission,
      deadlineMs: 9000,
      timestamp: '2020-01-01T00:00:00.000Z',
      summary: 'other',
    };
    const again = await world.mailbox.requests.submit({ ...command, submission });

    expect(again).toEqual({ kind: 'replayed', record: first.record });
    expect(await contentOf(world)).toEqual(before);
  });

  it('[WR-23] makes one request of the same submission sent fifty times at once', async () => {
    const command = commandOf(world, submissionOf(world));
    const results = await Promise.all(
      Array.from({ length: 50 }, () => world.mailbox.requests.submit(command)),
    );

    expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(new Set(results.map(({ record }) => record.submittedAt)).size).toBe(1);
    expect((await numbersOf(world, 'events')).ids).toEqual(gapless(1));
  });

  it.each([
    ['another plan', { planContent: 'another' }],
    ['another session', { sessionId: newSessionId() }],
    ['another revision', { revision: 2 }],
    ['another predecessor', { supersedes: 'another' }],
    ['another target', { executionTarget: 'remote' as const }],
  ])('[WR-23] refuses the same ID with %s', async (_, changes) => {
    const record = await submit(world);
    const before = await contentOf(world);
    const { requestId, sessionId } = record;
    const error = await failureOf(submit(world, { requestId, sessionId, ...changes }));

    expect(error.code).toBe('request_conflict');
    expect(error.current).toMatchObject({ requestId, state: 'pending' });
    expect(await contentOf(world)).toEqual(before);
  });

  it('[WR-2] lets an ID stand for one request of the team, whoever submits', async () => {
    await submit(world, { requestId: 'foreign-1' });
    const error = await failureOf(submit(world, { requestId: 'foreign-1', teammate: 'worker-2' }));

    expect(error.code).toBe('request_conflict');
    expect(error.current).toBeUndefined();
  });

  it('[WR-23] supersedes the pending predecessor of the session in the same step', async () => {
    const first = await submit(world);
    const second = await submit(world, { sessionId: first.sessionId, planContent: 'better', revision: 2 });

    expect(await recordOf(world, first)).toMatchObject({
      state: 'superseded',
      supersededBy: second.requestId,
    });
    expect(second.supersedes).toBe(first.requestId);
    expect(await recordOf(world, second)).toMatchObject({ state: 'pending', supersedes: first.requestId });
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events.map(({ type, outcome }) => [type, outcome])).toEqual([
      ['plan:proposed', undefined],
      ['plan:decided', 'superseded'],
      ['plan:proposed', undefined],
    ]);
  });

  it('[WR-23] leaves one pending request of twenty that a session submits at once', async () => {
    const sessionId = newSessionId();
    const plans = Array.from({ length: 20 }, (_, place) => `plan ${place}`);
    const records = await Promise.all(plans.map((planContent) => submit(world, { sessionId, planContent })));
    const states = await Promise.all(records.map(async (record) => (await recordOf(world, record)).state));

    expect(states.filter((state) => state === 'pending')).toHaveLength(1);
    expect(states.filter((state) => state === 'superseded')).toHaveLength(19);
    expect((await numbersOf(world, 'events')).ids).toEqual(gapless(39));
  });

  it('[WR-20] waits while its predecessor is held for a decision', async () => {
    const first = await submit(world);
    await reserve(world, first);
    const error = await failureOf(submit(world, { sessionId: first.sessionId, planContent: 'better' }));

    expect(error.code).toBe('store_unavailable');
    expect((await recordOf(world, first)).state).toBe('pending');
  });

  it('[WR-24] times out a predecessor whose deadline has passed, instead of superseding it', async () => {
    const first = await submit(world);
    await passDeadline(world, first);
    const second = await submit(world, { sessionId: first.sessionId, planContent: 'better' });

    const record = await recordOf(world, first);
    expect(record.state).toBe('timeout');
    expect(record.supersededBy).toBeUndefined();
    expect(second.supersedes).toBeUndefined();
  });
});

describe('a plan that is approved already', () => {
  it('[WR-25] is answered with its decision under the old ID, whether the original or the edited text comes again', async () => {
    const first = await submit(world);
    await decide(world, first, { editedPlan: 'edited' });
    for (const planContent of ['# Plan\n\n1. Rename the option.\n', 'edited']) {
      const submission = submissionOf(world, { sessionId: first.sessionId, planContent });
      const { kind, record } = await world.mailbox.requests.submit(commandOf(world, submission));
      expect([kind, record.requestId, record.decision?.outcome]).toEqual([
        'standing',
        first.requestId,
        'approved',
      ]);
      expect(await world.mailbox.requests.get(world.team, submission.requestId)).toBeUndefined();
    }
  });

  it.each(['done', 'failed'] as const)('[WR-25] is a new request once the work is %s', async (state) => {
    const first = await submit(world);
    await decide(world, first);
    await world.mailbox.requests.claim(nameOf(first), 'h', 5000);
    await world.mailbox.requests.settle(nameOf(first), { epoch: 1, state });
    const second = await submit(world, { sessionId: first.sessionId });

    expect(second.state).toBe('pending');
    expect((await recordOf(world, first)).supersededBy).toBeUndefined();
  });

  it('[WR-25] is a new request after the session entered plan mode again, and the old approval opens nothing', async () => {
    const first = await submit(world);
    await decide(world, first);
    const { team, sessionId } = first;
    await world.mailbox.tasks.enterPlanMode({ team, teammate, sessionId });
    expect((await failureOf(world.mailbox.requests.claim(nameOf(first), 'h', 5000))).code).toBe(
      'not_approved',
    );
    const second = await submit(world, { sessionId });

    expect(second.state).toBe('pending');
    expect(await recordOf(world, first)).toMatchObject({
      state: 'approved',
      supersededBy: second.requestId,
      work: { state: 'failed', reason: 'superseded' },
    });
  });

  it('[WR-28] is a new request when the approval was not claimed in time', async () => {
    const first = await submit(world);
    await decide(world, first, { notAfterMs: -1 });
    const second = await submit(world, { sessionId: first.sessionId });

    expect(second.state).toBe('pending');
    expect((await recordOf(world, first)).work).toMatchObject({
      state: 'failed',
      reason: 'expired_unapplied',
    });
  });

  it('[I1] gives way to another plan of the session: what is under way under it is void', async () => {
    const first = await submit(world);
    await decide(world, first);
    await world.mailbox.requests.claim(nameOf(first), 'h', 5000);
    await submit(world, { sessionId: first.sessionId, planContent: 'another' });

    const settling = world.mailbox.requests.settle(nameOf(first), { epoch: 1, state: 'done' });
    expect((await failureOf(settling)).code).toBe('epoch_stale');
    expect((await failureOf(world.mailbox.requests.claim(nameOf(first), 'h', 5000))).code).toBe('superseded');
  });
});
