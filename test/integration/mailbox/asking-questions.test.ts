import { keyOf } from '@placet/mailbox';
import { leadInboxName } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { questionOf, questionsIn } from './question-world.ts';
import { contentOf, failureOf, owner, rivalOf, type StoreWorld, teammate, useStore } from './store-world.ts';

let world: StoreWorld;
let port: ReturnType<typeof questionsIn>['port'];
let answer: ReturnType<typeof questionsIn>['answer'];
let inboxOf: ReturnType<typeof questionsIn>['inboxOf'];
let openIds: ReturnType<typeof questionsIn>['openIds'];
let openTask: ReturnType<typeof questionsIn>['openTask'];

const server = useStore({ reconcileAfterMs: 1 }, (opened) => {
  world = opened;
  ({ port, answer, inboxOf, openIds, openTask } = questionsIn(world));
});

describe('asking', () => {
  it('[WR-12] [PM-64] opens a question in one step: record, entry in the inbox of the lead, event', async () => {
    const asking = questionOf({ note: 'a field of a later release' });
    const { kind, record, entryId } = await port.ask(asking);

    expect(kind).toBe('asked');
    expect(record).toMatchObject({ requestId: asking.requestId, teammate, inPlanMode: true });
    expect(record.end).toBeUndefined();
    expect(Date.parse(record.deadline) - Date.parse(record.askedAt)).toBe(24 * 60 * 60 * 1000);
    expect(await inboxOf(leadInboxName)).toEqual([
      {
        id: entryId,
        from: teammate,
        to: leadInboxName,
        timestamp: record.askedAt,
        message: { ...asking, deadline: record.deadline },
      },
    ]);
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events).toMatchObject([
      { type: 'question', state: 'asked', kind: 'questions', requestId: asking.requestId, teammate },
    ]);
    expect(await world.mailbox.questions.list(world.team, { limit: 10 })).toMatchObject({
      questions: [{ requestId: asking.requestId, ask: { kind: 'questions' } }],
    });
  });

  it('[PM-66] again under the same ID is answered with the one that stands, and writes nothing', async () => {
    const asking = questionOf();
    const first = await port.ask(asking);
    const before = await contentOf(world);
    const again = await port.ask({ ...asking, deadline: '2099-01-01T00:00:00.000Z' });

    expect(again).toEqual({ ...first, kind: 'replayed' });
    expect(await contentOf(world)).toEqual(before);
    await answer(asking.requestId);
    expect(await port.ask(asking)).toMatchObject({ kind: 'replayed', record: { end: { kind: 'answered' } } });
  });

  it('[PM-66] under an ID that stands for something else is a conflict', async () => {
    const asking = questionOf();
    await port.ask(asking);
    const { requestId, sessionId } = asking;
    const others = [questionOf({ requestId }), questionOf({ requestId, sessionId, type: 'consent_request' })];
    for (const other of others) expect((await failureOf(port.ask(other))).code).toBe('request_conflict');
    const stranger = world.mailbox.port(world.team, 'worker-2', { owner });
    expect((await failureOf(stranger.ask(asking))).code).toBe('request_conflict');
    expect(await openIds()).toEqual([requestId]);
  });

  it('of two askers at once under one ID one opens it, and both are told the same', async () => {
    const rival = await rivalOf(world, server.url);
    const rivals = rival.mailbox.port(world.team, teammate, { owner });
    for (let round = 0; round < 10; round += 1) {
      const asking = questionOf();
      const results = await Promise.all([port.ask(asking), rivals.ask(asking)]);
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['asked', 'replayed']);
      expect(results[0]?.record).toEqual(results[1]?.record);
    }
    await rival.close();
  });

  it('[TM-15] waits for as long as its session does, and never for longer', async () => {
    const lease = await openTask({ deadlineMs: 60_000 });
    const waitOf = async (deadlineMs?: number) => {
      const deadline = deadlineMs === undefined ? {} : { deadline: new Date(deadlineMs).toISOString() };
      const { record } = await port.ask(questionOf({ sessionId: lease.sessionId, ...deadline }));
      return Date.parse(record.deadline) - Date.parse(record.askedAt);
    };
    expect(await waitOf()).toBe(60_000);
    expect(await waitOf(Date.now() + 1e9)).toBe(60_000);
    expect(await waitOf(Date.now() + 30_000)).toBeLessThan(31_000);
    expect((await failureOf(waitOf(Date.now() - 1))).code).toBe('validation_failed');
  });

  it('is refused where the sender has lost the session, or has too many open', async () => {
    const lease = await openTask();
    const stale = { ...lease, epoch: lease.epoch - 1 };
    expect((await failureOf(port.ask(questionOf({ sessionId: lease.sessionId }), stale))).code).toBe(
      'epoch_stale',
    );
    const asked: string[] = [];
    for (let place = 0; place < 64; place += 1) {
      const asking = questionOf({ sessionId: lease.sessionId });
      await port.ask(asking, lease);
      asked.push(asking.requestId);
    }
    expect((await failureOf(port.ask(questionOf({ sessionId: lease.sessionId })))).code).toBe('rate_limited');
    await port.takeBack(asked[0] ?? '');
    expect((await port.ask(questionOf({ sessionId: lease.sessionId }))).kind).toBe('asked');

    await world.handle.redis.sadd(
      keyOf(world.team, 'teammateQuestions', teammate),
      ...Array.from({ length: 1000 }, (_, place) => `other-${place}`),
    );
    expect((await failureOf(port.ask(questionOf()))).code).toBe('rate_limited');
  });

  it('[WR-31] is refused where it cannot be shown, or is too long, and nothing is stored', async () => {
    const before = await contentOf(world);
    const wrong = [
      questionOf({ questions: [] }),
      questionOf({ requestId: `plan_approval-01890000-0000-7000-8000-000000000000@other@${world.team}` }),
      questionOf({ reason: 'a\u0000b', type: 'consent_request' }),
      questionOf({ note: '\ud800' }),
    ];
    for (const asking of wrong) expect((await failureOf(port.ask(asking))).code).toBe('validation_failed');
    expect((await failureOf(port.ask(questionOf({ note: 'x'.repeat(512 * 1024) })))).code).toBe(
      'payload_too_large',
    );
    expect(await contentOf(world)).toEqual(before);
  });

  it('[WR-12] by a message to the lead is the same; and no message is an answer', async () => {
    const asking = questionOf();
    await port.sendToLead(asking, 'op');
    expect(await openIds()).toEqual([asking.requestId]);
    expect((await failureOf(port.sendToLead({ type: 'question_request' }, 'op'))).code).toBe(
      'validation_failed',
    );
    const { inboxes } = world.mailbox;
    const answered = { timestamp: '2026-01-02T03:04:05.678Z', end: { kind: 'unanswered' } };
    for (const type of ['question_request', 'consent_request', 'question_response', 'consent_response']) {
      const message = { ...asking, ...answered, type };
      expect((await failureOf(inboxes.send(world.team, { from: 'x', to: teammate, message }))).code).toBe(
        'validation_failed',
      );
    }
  });
});

describe('the list of open questions', () => {
  it('[WR-33] is paged by a cursor that stays right while questions come and go', async () => {
    const ids: string[] = [];
    for (let place = 0; place < 7; place += 1) ids.push((await port.ask(questionOf())).record.requestId);
    const { questions } = world.mailbox;
    const first = await questions.list(world.team, { limit: 3 });
    await answer(ids[0] ?? '');
    await answer(ids[2] ?? '');
    await answer(ids[4] ?? '');
    const late = (await port.ask(questionOf())).record.requestId;
    const second = await questions.list(world.team, { limit: 3, cursor: first.nextCursor });
    const third = await questions.list(world.team, { limit: 3, cursor: second.nextCursor });

    expect(first.questions.map(({ requestId }) => requestId)).toEqual(ids.slice(0, 3));
    expect(second.questions.map(({ requestId }) => requestId)).toEqual([ids[3], ids[5], ids[6]]);
    expect(third.questions.map(({ requestId }) => requestId)).toEqual([late]);
    expect(third.nextCursor).toBeUndefined();
    expect((await failureOf(questions.list(world.team, { limit: 3, cursor: 'x' }))).code).toBe(
      'validation_failed',
    );
  });

  it('[WR-33] and the inbox of the lead are not hidden by one that cannot be read', async () => {
    const ids: string[] = [];
    for (let place = 0; place < 3; place += 1) ids.push((await port.ask(questionOf())).record.requestId);
    await world.handle.redis.set(keyOf(world.team, 'question', teammate, ids[1] ?? ''), 'broken');
    expect(await openIds()).toEqual([ids[0], ids[2]]);
    expect((await inboxOf(leadInboxName)).map(({ message }) => message.requestId)).toEqual([ids[0], ids[2]]);
    expect((await failureOf(answer(ids[1] ?? ''))).code).toBe('internal');
  });

  it('[TM-42] and the inbox of the lead are cut where questions are long, and lose none', async () => {
    const ids: string[] = [];
    for (let place = 0; place < 20; place += 1) {
      const options = ['a', 'b', 'c', 'd'].map((label) => ({ label, preview: 'x'.repeat(20_000) }));
      const questions = ['1', '2', '3', '4'].map((text) => ({ question: text, header: text, options }));
      ids.push((await port.ask(questionOf({ questions }))).record.requestId);
    }
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await world.mailbox.inboxes.read(world.team, leadInboxName, {
        limit: 100,
        ...(after !== undefined && { after }),
      });
      if (page.length === 0) break;
      expect(page.length).toBeLessThan(20);
      seen.push(...page.map(({ message }) => String(message.requestId)));
      after = page.at(-1)?.id;
    }
    expect(seen).toEqual(ids);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.mailbox.questions.list(world.team, { limit: 100, cursor });
      listed.push(...page.questions.map(({ requestId }) => requestId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(ids);
  });
});
