import { type AskResult, keyOf } from '@placet/mailbox';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { questionOf, questionsIn } from './question-world.ts';
import { contentOf, rivalOf, type StoreWorld, submissionOf, teammate, useStore } from './store-world.ts';

let world: StoreWorld;
let port: ReturnType<typeof questionsIn>['port'];
let answer: ReturnType<typeof questionsIn>['answer'];
let openIds: ReturnType<typeof questionsIn>['openIds'];
let openTask: ReturnType<typeof questionsIn>['openTask'];
let taskOf: ReturnType<typeof questionsIn>['taskOf'];
let passDeadline: ReturnType<typeof questionsIn>['passDeadline'];
let wakes: ReturnType<typeof questionsIn>['wakes'];

const server = useStore({ reconcileAfterMs: 1 }, (opened) => {
  world = opened;
  ({ port, answer, openIds, openTask, taskOf, passDeadline, wakes } = questionsIn(world));
});

describe('a task that asks', () => {
  it('[TM-15] is parked by the step that asks, and back in planning, woken and looked after by the one that ends it', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    const { requestId } = (await port.ask(questionOf({ sessionId }), lease)).record;
    expect((await taskOf(sessionId)).phase).toBe('awaiting_answer');
    await port.releaseSession(lease);
    expect(await world.handle.redis.zcard(keyOf(world.team, 'due'))).toBe(0);

    await answer(requestId);
    expect(await taskOf(sessionId)).toMatchObject({ phase: 'planning', wake: 1 });
    expect(await wakes()).toEqual([[sessionId, '1', '1']]);
    // Even if that wake-up went astray.
    await eventually(async () => (await world.mailbox.requests.wakeDue(world.team, 10)) === 1);
    expect(await wakes()).toHaveLength(2);
  });

  it('[TM-15] an answer before the planning job has ended is not lost', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    const { requestId } = (await port.ask(questionOf({ sessionId }), lease)).record;
    await answer(requestId);
    // Only now does the job let go, and only then can another begin.
    expect(await port.holdSession(sessionId, 'woken', 1000)).toMatchObject({ kind: 'busy' });
    await port.releaseSession(lease);

    expect(await wakes()).toEqual([[sessionId, '1', '1']]);
    const woken = await port.holdSession(sessionId, 'woken', 1000);
    if (woken.kind !== 'held') throw new Error('not held');
    expect(woken.task.phase).toBe('planning');
    expect(await port.ask(questionOf({ requestId, sessionId }), woken.lease)).toMatchObject({
      kind: 'replayed',
      record: { end: { kind: 'answered' } },
    });
    expect((await taskOf(sessionId)).phase).toBe('planning');
  });

  it('[PM-66] asking again after a restart parks it again while the question is open', async () => {
    const first = await openTask();
    const { sessionId } = first;
    const asking = questionOf({ sessionId });
    await port.ask(asking, first);
    await port.changeTask(first, { phase: 'planning' });
    expect((await port.ask(asking, { ...first, epoch: 7 })).kind).toBe('replayed');
    expect((await taskOf(sessionId)).phase).toBe('planning');
    await port.ask(asking, first);
    expect((await taskOf(sessionId)).phase).toBe('awaiting_answer');
  });

  it('[TM-15] expiry and taking back wake it too', async () => {
    for (const end of [
      async (asked: AskResult) => {
        await passDeadline(asked);
        await port.getQuestion(asked.record.requestId);
      },
      (asked: AskResult) => port.takeBack(asked.record.requestId),
    ]) {
      const lease = await openTask();
      const asked = await port.ask(questionOf({ sessionId: lease.sessionId }), lease);
      await end(asked);
      expect(await taskOf(lease.sessionId)).toMatchObject({ phase: 'planning', wake: 1 });
    }
  });

  it('[TM-15] neither asking nor an answer touches work under an approval, or a task that is over', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    await port.submit(submissionOf(world, { sessionId }), lease);
    const { requestId } = (await port.ask(questionOf({ sessionId }), lease)).record;
    expect((await taskOf(sessionId)).phase).toBe('awaiting_approval');
    await port.changeTask(lease, { phase: 'failed' });
    await answer(requestId);
    expect(await taskOf(sessionId)).toMatchObject({ phase: 'failed', wake: 0 });
  });

  it('[TM-15] of a session that is no task leaves no session behind', async () => {
    const { requestId, sessionId } = (await port.ask(questionOf())).record;
    await answer(requestId);
    expect(await world.handle.redis.exists(keyOf(world.team, 'session', teammate, sessionId))).toBe(0);
    expect(await wakes()).toEqual([]);
  });
});

describe('what has ended', () => {
  it('[TM-42] is kept for the retention and then gone, with every key of it; what is open stays', async () => {
    const empty = Object.keys(await contentOf(world));
    const ended = await port.ask(questionOf());
    await answer(ended.record.requestId);
    await port.acknowledge((await port.takeEntries(10)).map(({ id }) => id));
    expect(await world.mailbox.questions.purge(world.team, 10)).toBe(0);
    const open = await port.ask(questionOf());
    const forgetful = await rivalOf(world, server.url, { retentionMs: 1 });
    await eventually(async () => (await forgetful.mailbox.questions.purge(world.team, 10)) === 1);
    expect(await port.getQuestion(ended.record.requestId)).toBeUndefined();
    expect(await openIds()).toEqual([open.record.requestId]);

    await port.takeBack(open.record.requestId);
    await eventually(async () => (await forgetful.mailbox.questions.purge(world.team, 10)) === 1);
    await forgetful.close();
    const left = Object.keys(await contentOf(world)).filter((key) => !empty.includes(key));
    expect(left.filter((key) => !/:(events|audit|seq|inbox)$/.test(key))).toEqual([]);
    // An answer that was not read before its question was purged is taken out of the inbox.
    expect(await port.takeEntries(10)).toEqual([]);
    expect(await world.handle.redis.xlen(keyOf(world.team, 'inbox', teammate))).toBe(0);
  });

  it('[TM-42] is bounded by count too', async () => {
    for (let place = 0; place < 5; place += 1)
      await port.takeBack((await port.ask(questionOf())).record.requestId);
    const few = await rivalOf(world, server.url, { retentionCount: 2 });
    expect(await few.mailbox.questions.purge(world.team, 10)).toBe(3);
    expect(await few.mailbox.questions.purge(world.team, 10)).toBe(0);
    await few.close();
  });
});
