import { type AnswerBody, leadInboxName } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { answerOf, colour, questionOf, questionsIn } from './question-world.ts';
import {
  contentOf,
  failureOf,
  gapless,
  numbersOf,
  owner,
  rivalOf,
  type StoreWorld,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;
let port: ReturnType<typeof questionsIn>['port'];
let answer: ReturnType<typeof questionsIn>['answer'];
let inboxOf: ReturnType<typeof questionsIn>['inboxOf'];
let openIds: ReturnType<typeof questionsIn>['openIds'];
let passDeadline: ReturnType<typeof questionsIn>['passDeadline'];

const server = useStore({ reconcileAfterMs: 1 }, (opened) => {
  world = opened;
  ({ port, answer, inboxOf, openIds, passDeadline } = questionsIn(world));
});

describe('answering', () => {
  it('[PM-64] ends the question in one step: answer in the inbox of the teammate, event, nothing at the lead', async () => {
    const { requestId, sessionId } = questionOf();
    await port.ask(questionOf({ requestId, sessionId }));
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
    const { requestId } = (await port.ask(questionOf())).record;
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
    const { requestId } = (await port.ask(questionOf())).record;
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
      await port.ask(questionOf({ type: 'consent_request', reason: 'It is a big change' }))
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
    const { requestId } = (await port.ask(questionOf())).record;
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
      const { requestId } = (await port.ask(questionOf())).record;
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
    const asked = await port.ask(questionOf());
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

  it('[TM-15] no answer that arrives at the deadline is written after it, by the clock of the store', async () => {
    const deadlineMs = Date.now() + 2500;
    const deadline = new Date(deadlineMs).toISOString();
    const asked = await Promise.all(Array.from({ length: 300 }, () => port.ask(questionOf({ deadline }))));
    await eventually(() => Date.now() >= deadlineMs - 30, { everyMs: 1 });
    await Promise.allSettled(asked.map(({ record: { requestId } }) => answer(requestId)));
    for (const { record } of asked) {
      const { end, endedAt = '' } = (await port.getQuestion(record.requestId)) ?? {};
      if (end?.kind === 'answered') expect(Date.parse(endedAt)).toBeLessThan(deadlineMs);
      else expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(deadlineMs);
    }
  });

  it('[TM-15] is ended by the sweep, under its fence, once', async () => {
    const asked = [await port.ask(questionOf()), await port.ask(questionOf())];
    for (const one of asked) await passDeadline(one);
    await port.ask(questionOf());
    const { questions, duties } = world.mailbox;
    const epoch = await duties.lease(world.team, 'deadlines', 'me', 60_000);
    if (epoch === undefined) throw new Error('no lease');

    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch: epoch - 1 })).toBe(0);
    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch })).toBe(2);
    expect(await questions.expireDue(world.team, 10, { duty: 'deadlines', epoch })).toBe(0);
    expect(await questions.openCount(world.team)).toBe(1);
  });

  it('[PM-66] is taken back by its teammate, and by nobody else', async () => {
    const { requestId } = (await port.ask(questionOf())).record;
    const stranger = world.mailbox.port(world.team, 'worker-2', { owner });
    expect((await failureOf(stranger.takeBack(requestId))).code).toBe('not_found');
    const record = await port.takeBack(requestId);
    expect(record.end).toEqual({ kind: 'unanswered' });
    expect(await port.takeBack(requestId)).toEqual(record);
    expect((await failureOf(answer(requestId))).code).toBe('already_decided');
  });

  it('[TM-15] answer, deadline and taking back at once have one winner, which all are told', async () => {
    for (let round = 0; round < 20; round += 1) {
      const asked = await port.ask(questionOf());
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
