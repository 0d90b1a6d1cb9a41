import { type AskResult, keyOf, type MailboxPort } from '@placet/mailbox';
import {
  type AnswerBody,
  type Answers,
  type AskingMessage,
  leadInboxName,
  newSessionId,
  type TaskRecord,
} from '@placet/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import {
  contentOf,
  entriesOf,
  failureOf,
  gapless,
  numbersOf,
  openStore,
  owner,
  rivalOf,
  type StoreWorld,
  submissionOf,
  teammate,
} from './store-world.ts';

let server: TestRedis;
let world: StoreWorld;
let port: MailboxPort;
let count = 0;

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  world = await openStore(server.url, { reconcileAfterMs: 1 });
  port = world.mailbox.port(world.team, teammate, { owner });
  return () => world.close();
});
afterAll(() => server.stop());

const colour = 'Which colour?';

function question(changes: Record<string, unknown> = {}): AskingMessage {
  count += 1;
  return {
    type: 'question_request',
    requestId: `question-${count}`,
    sessionId: newSessionId(),
    questions: [
      {
        question: colour,
        header: 'Colour',
        options: [{ label: 'Red' }, { label: 'Blue' }],
        multiSelect: false,
      },
    ],
    inPlanMode: true,
    ...changes,
  } as AskingMessage; // unless a test is about the opposite
}

const answerOf = (label: string): { answers: Answers } => ({ answers: { [colour]: { labels: [label] } } });
const answer = (requestId: string, label = 'Red', by = 'lead:ada') =>
  world.mailbox.questions.answer({ team: world.team, requestId, body: answerOf(label), by });
const inboxOf = (agent: string) => world.mailbox.inboxes.read(world.team, agent, { limit: 100 });
const openIds = async () =>
  (await world.mailbox.questions.list(world.team, { limit: 100 })).questions.map(
    ({ requestId }) => requestId,
  );

/** Opens a task, whose session the caller holds. */
async function openTask(job: { deadlineMs?: number } = {}) {
  const sessionId = newSessionId();
  await port.openTask(sessionId, { task: 't', team: world.team, cwd: '/src', agent: 'codemod', ...job });
  const held = await port.holdSession(sessionId, 'planner', 60_000);
  if (held.kind !== 'held') throw new Error('not held');
  return held.lease;
}

async function taskOf(sessionId: string): Promise<TaskRecord> {
  const task = await port.getTask(sessionId);
  if (!task) throw new Error('no task');
  return task;
}

/** Moves a question's deadline into the past, as the passing of time does. */
async function passDeadline({ record: { requestId } }: AskResult): Promise<void> {
  const key = keyOf(world.team, 'question', teammate, requestId);
  const text = (await world.handle.redis.get(key)) ?? '';
  await world.handle.redis.set(key, text.replace(/"dl":\d+}$/, '"dl":1000}'));
  await world.handle.redis.zadd(keyOf(world.team, 'questionDeadlines'), 'XX', 1000, requestId);
}

const wakes = async () =>
  (await entriesOf(world, keyOf(world.team, 'outbox'))).map(({ s, w, k }) => [s, w, k]);

describe('asking', () => {
  it('[WR-12] [PM-64] opens a question in one step: record, entry in the inbox of the lead, event', async () => {
    const asking = question({ note: 'a field of a later release' });
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
    const asking = question();
    const first = await port.ask(asking);
    const before = await contentOf(world);
    const again = await port.ask({ ...asking, deadline: '2099-01-01T00:00:00.000Z' });

    expect(again).toEqual({ ...first, kind: 'replayed' });
    expect(await contentOf(world)).toEqual(before);
    await answer(asking.requestId);
    expect(await port.ask(asking)).toMatchObject({ kind: 'replayed', record: { end: { kind: 'answered' } } });
  });

  it('[PM-66] under an ID that stands for something else is a conflict', async () => {
    const asking = question();
    await port.ask(asking);
    const { requestId, sessionId } = asking;
    const others = [question({ requestId }), question({ requestId, sessionId, type: 'consent_request' })];
    for (const other of others) expect((await failureOf(port.ask(other))).code).toBe('request_conflict');
    const stranger = world.mailbox.port(world.team, 'worker-2', { owner });
    expect((await failureOf(stranger.ask(asking))).code).toBe('request_conflict');
    expect(await openIds()).toEqual([requestId]);
  });

  it('of two askers at once under one ID one opens it, and both are told the same', async () => {
    const rival = await rivalOf(world, server.url);
    const rivals = rival.mailbox.port(world.team, teammate, { owner });
    for (let round = 0; round < 10; round += 1) {
      const asking = question();
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
      const { record } = await port.ask(question({ sessionId: lease.sessionId, ...deadline }));
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
    expect((await failureOf(port.ask(question({ sessionId: lease.sessionId }), stale))).code).toBe(
      'epoch_stale',
    );
    const asked: string[] = [];
    for (let place = 0; place < 64; place += 1) {
      const asking = question({ sessionId: lease.sessionId });
      await port.ask(asking, lease);
      asked.push(asking.requestId);
    }
    expect((await failureOf(port.ask(question({ sessionId: lease.sessionId })))).code).toBe('rate_limited');
    await port.takeBack(asked[0] ?? '');
    expect((await port.ask(question({ sessionId: lease.sessionId }))).kind).toBe('asked');

    await world.handle.redis.sadd(
      keyOf(world.team, 'teammateQuestions', teammate),
      ...Array.from({ length: 1000 }, (_, place) => `other-${place}`),
    );
    expect((await failureOf(port.ask(question()))).code).toBe('rate_limited');
  });

  it('[WR-31] is refused where it cannot be shown, or is too long, and nothing is stored', async () => {
    const before = await contentOf(world);
    const wrong = [
      question({ questions: [] }),
      question({ requestId: `plan_approval-01890000-0000-7000-8000-000000000000@other@${world.team}` }),
      question({ reason: 'a\u0000b', type: 'consent_request' }),
      question({ note: '\ud800' }),
    ];
    for (const asking of wrong) expect((await failureOf(port.ask(asking))).code).toBe('validation_failed');
    expect((await failureOf(port.ask(question({ note: 'x'.repeat(512 * 1024) })))).code).toBe(
      'payload_too_large',
    );
    expect(await contentOf(world)).toEqual(before);
  });

  it('[WR-12] by a message to the lead is the same; and no message is an answer', async () => {
    const asking = question();
    await port.sendToLead(asking, 'op');
    expect(await openIds()).toEqual([asking.requestId]);
    expect((await failureOf(port.sendToLead({ type: 'question_request' }, 'op'))).code).toBe(
      'validation_failed',
    );
    const { inboxes } = world.mailbox;
    for (const type of ['question_request', 'consent_request', 'question_response', 'consent_response'])
      expect(
        (await failureOf(inboxes.send(world.team, { from: 'x', to: teammate, message: { type } }))).code,
      ).toBe('validation_failed');
  });
});

describe('answering', () => {
  it('[PM-64] ends the question in one step: answer in the inbox of the teammate, event, nothing at the lead', async () => {
    const { requestId, sessionId } = question();
    await port.ask(question({ requestId, sessionId }));
    const { kind, record } = await answer(requestId);

    expect(kind).toBe('answered');
    expect(record.end).toEqual({ kind: 'answered', ...answerOf('Red'), answeredBy: 'lead:ada' });
    expect(await port.getQuestion(requestId)).toEqual(record);
    expect(await inboxOf(leadInboxName)).toEqual([]);
    expect(await openIds()).toEqual([]);
    const [entry] = await port.takeEntries(10);
    expect(entry).toMatchObject({
      from: leadInboxName,
      message: {
        type: 'question_response',
        requestId,
        sessionId,
        end: record.end,
        timestamp: record.endedAt,
      },
    });
    await port.acknowledge([entry?.id ?? '']);
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events.at(-1)).toMatchObject({ type: 'question', state: 'answered', by: 'lead:ada' });
    expect(JSON.stringify(events)).not.toContain('Red');
    expect((await numbersOf(world, 'events')).ids).toEqual(gapless(2));
  });

  it('again with the same answer by the same principal changes nothing; anything else is told what stands', async () => {
    const { requestId } = (await port.ask(question())).record;
    const { record } = await answer(requestId);
    const before = await contentOf(world);

    expect(await answer(requestId)).toEqual({ kind: 'repeated', record });
    for (const other of [answer(requestId, 'Blue'), answer(requestId, 'Red', 'lead:bob')]) {
      const error = await failureOf(other);
      expect([error.code, error.current]).toEqual([
        'already_decided',
        { requestId, state: 'answered', endedAt: record.endedAt, end: record.end },
      ]);
    }
    expect(await contentOf(world)).toEqual(before);
  });

  it('[PM-64] refuses keys and labels that are none of the questions, with their paths', async () => {
    const { requestId } = (await port.ask(question())).record;
    const before = await contentOf(world);
    const { team } = world;
    const bodies: AnswerBody[] = [
      { answers: { 'Which size?': { labels: ['Red'] } } },
      { answers: { [colour]: { labels: ['Green'] } } },
      { answers: { [colour]: { labels: ['Red'], notes: { Green: 'n' } } } },
      { consent: 'accepted' },
    ];
    for (const body of bodies) {
      const command = { team, requestId, body, by: 'lead:ada' };
      const error = await failureOf(world.mailbox.questions.answer(command));
      expect([error.code, error.issues?.every(({ path }) => path !== '')]).toEqual([
        'validation_failed',
        true,
      ]);
    }
    expect(await contentOf(world)).toEqual(before);
  });

  it('[PM-12] of a consent takes a consent, and no answers', async () => {
    const { requestId } = (
      await port.ask(question({ type: 'consent_request', reason: 'It is a big change' }))
    ).record;
    expect((await failureOf(answer(requestId))).code).toBe('validation_failed');
    const { record } = await world.mailbox.questions.answer({
      team: world.team,
      requestId,
      body: { consent: 'declined' },
      by: 'lead:ada',
    });
    expect(record.end).toEqual({ kind: 'consent', consent: 'declined', answeredBy: 'lead:ada' });
    expect((await inboxOf(teammate))[0]?.message).toMatchObject({ type: 'consent_response', requestId });
  });

  it('of what is not there, or is of another team, is not found', async () => {
    const { requestId } = (await port.ask(question())).record;
    const stranger = { ...(await rivalOf(world, server.url)), team: `${world.team}-2` };
    for (const [{ mailbox, team }, id] of [
      [world, 'question-of-nobody'],
      [stranger, requestId],
    ] as const) {
      const command = { team, requestId: id, body: answerOf('Red'), by: 'lead:eve' };
      expect((await failureOf(mailbox.questions.answer(command))).code).toBe('not_found');
    }
    await stranger.close();
    expect(
      await world.mailbox.port(world.team, 'worker-2', { owner }).getQuestion(requestId),
    ).toBeUndefined();
    expect(await openIds()).toEqual([requestId]);
  });

  it('two different answers at once have one winner, and the loser is told', async () => {
    const rival = await rivalOf(world, server.url);
    for (let round = 0; round < 20; round += 1) {
      const { requestId } = (await port.ask(question())).record;
      const results = await Promise.allSettled([
        answer(requestId, 'Red'),
        rival.mailbox.questions.answer({
          team: world.team,
          requestId,
          body: answerOf('Blue'),
          by: 'lead:bob',
        }),
      ]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
    expect(await inboxOf(teammate)).toHaveLength(20);
    await rival.close();
  });
});

describe('a question that nobody answers', () => {
  it('[TM-15] ends unanswered at its deadline, also where nobody sweeps, and no answer comes after that', async () => {
    const asked = await port.ask(question());
    const { requestId } = asked.record;
    await passDeadline(asked);

    const error = await failureOf(answer(requestId));
    expect([error.code, error.current?.state]).toEqual(['already_decided', 'unanswered']);
    expect((await port.getQuestion(requestId))?.end).toEqual({ kind: 'unanswered' });
    expect(await inboxOf(leadInboxName)).toEqual([]);
    const [response] = await inboxOf(teammate);
    expect(response?.message).toMatchObject({ type: 'question_response', end: { kind: 'unanswered' } });
    expect(JSON.stringify(response)).not.toMatch(/approved|accepted/);
  });

  it('[TM-15] is ended by the sweep, under its fence, once', async () => {
    const asked = [await port.ask(question()), await port.ask(question())];
    for (const one of asked) await passDeadline(one);
    await port.ask(question());
    const { questions, duties } = world.mailbox;
    const epoch = await duties.lease(world.team, 'deadlines', 'me', 60_000);
    if (epoch === undefined) throw new Error('no lease');

    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch: epoch - 1 })).toBe(0);
    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch })).toBe(2);
    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch })).toBe(0);
    expect(await questions.openCount(world.team)).toBe(1);
  });

  it('[PM-66] is taken back by its teammate, and by nobody else', async () => {
    const { requestId } = (await port.ask(question())).record;
    const stranger = world.mailbox.port(world.team, 'worker-2', { owner });
    expect((await failureOf(stranger.takeBack(requestId))).code).toBe('not_found');
    const record = await port.takeBack(requestId);
    expect(record.end).toEqual({ kind: 'unanswered' });
    expect(await port.takeBack(requestId)).toEqual(record);
    expect((await failureOf(answer(requestId))).code).toBe('already_decided');
  });

  it('[TM-15] answer, deadline and taking back at once have one winner, which all are told', async () => {
    for (let round = 0; round < 20; round += 1) {
      const asked = await port.ask(question());
      const { requestId } = asked.record;
      const [answered] = await Promise.allSettled([
        answer(requestId),
        passDeadline(asked).then(() => world.mailbox.questions.expireDue(world.team, 10)),
        port.takeBack(requestId),
      ]);
      const end = (await port.getQuestion(requestId))?.end?.kind;
      expect(end).toBe(answered.status === 'fulfilled' ? 'answered' : 'unanswered');
    }
    expect(await inboxOf(teammate)).toHaveLength(20);
    expect(await openIds()).toEqual([]);
  });
});

describe('a task that asks', () => {
  it('[TM-15] is parked by the step that asks, and back in planning, woken and looked after by the one that ends it', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    const { requestId } = (await port.ask(question({ sessionId }), lease)).record;
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
    const { requestId } = (await port.ask(question({ sessionId }), lease)).record;
    await answer(requestId);
    // Only now does the job let go, and only then can another begin.
    expect(await port.holdSession(sessionId, 'woken', 1000)).toMatchObject({ kind: 'busy' });
    await port.releaseSession(lease);

    expect(await wakes()).toEqual([[sessionId, '1', '1']]);
    expect(await port.holdSession(sessionId, 'woken', 1000)).toMatchObject({
      kind: 'held',
      task: { phase: 'planning' },
    });
    expect(await port.ask(question({ requestId, sessionId }), lease)).toMatchObject({
      kind: 'replayed',
      record: { end: { kind: 'answered' } },
    });
    expect((await taskOf(sessionId)).phase).toBe('planning');
  });

  it('[PM-66] asking again after a restart parks it again while the question is open', async () => {
    const first = await openTask();
    const { sessionId } = first;
    const asking = question({ sessionId });
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
      const asked = await port.ask(question({ sessionId: lease.sessionId }), lease);
      await end(asked);
      expect(await taskOf(lease.sessionId)).toMatchObject({ phase: 'planning', wake: 1 });
    }
  });

  it('[TM-15] neither asking nor an answer touches work under an approval, or a task that is over', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    await port.submit(submissionOf(world, { sessionId }), lease);
    const { requestId } = (await port.ask(question({ sessionId }), lease)).record;
    expect((await taskOf(sessionId)).phase).toBe('awaiting_approval');
    await port.changeTask(lease, { phase: 'failed' });
    await answer(requestId);
    expect(await taskOf(sessionId)).toMatchObject({ phase: 'failed', wake: 0 });
  });

  it('[TM-15] of a session that is no task leaves no session behind', async () => {
    const { requestId, sessionId } = (await port.ask(question())).record;
    await answer(requestId);
    expect(await world.handle.redis.exists(keyOf(world.team, 'session', teammate, sessionId))).toBe(0);
    expect(await wakes()).toEqual([]);
  });
});

describe('the list of open questions', () => {
  it('[WR-33] is paged by a cursor that stays right while questions come and go', async () => {
    const ids: string[] = [];
    for (let place = 0; place < 7; place += 1) ids.push((await port.ask(question())).record.requestId);
    const { questions } = world.mailbox;
    const first = await questions.list(world.team, { limit: 3 });
    await answer(ids[0] ?? '');
    await answer(ids[2] ?? '');
    await answer(ids[4] ?? '');
    const late = (await port.ask(question())).record.requestId;
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

  it('[TM-42] and the inbox of the lead are cut where questions are long, and lose none', async () => {
    const ids: string[] = [];
    for (let place = 0; place < 20; place += 1) {
      const options = ['a', 'b', 'c', 'd'].map((label) => ({ label, preview: 'x'.repeat(20_000) }));
      const questions = ['1', '2', '3', '4'].map((text) => ({ question: text, header: text, options }));
      ids.push((await port.ask(question({ questions }))).record.requestId);
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
