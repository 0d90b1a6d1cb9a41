import { leadInboxName, newSessionId } from '@placet/protocol';
import { PlacetClient } from '@placet/protocol/client';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type LeadWorld, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;
let count = 0;

useLead({ deadlineMs: 7_200_000 }, async (opened) => {
  world = opened;
  [lead, teammate] = [await world.token(), await world.teammateToken()];
});

const which = 'Which colour?';
const questions = [{ question: which, header: 'Colour', options: [{ label: 'Red' }, { label: 'Blue' }] }];

const path = (id?: string) =>
  `/v1/teams/${world.team}/questions${id === undefined ? '' : `/${encodeURIComponent(id)}/answer`}`;
const send = (message: Record<string, unknown>, { token = teammate, to = leadInboxName } = {}) =>
  world.call(`/v1/teams/${world.team}/messages`, { token, body: { to, message } });
const answer = (id: string, body: unknown, token = lead) => world.call(path(id), { token, body });

/** Asks by a message, as a teammate without Redis does. */
async function ask(changes: Record<string, unknown> = {}): Promise<string> {
  count += 1;
  const requestId = `question ${count}`.replace(' ', '/');
  const message = { type: 'question_request', requestId, sessionId: newSessionId(), questions, ...changes };
  const { status, text } = await send(message);
  if (status !== 201) throw new Error(`not asked: ${text}`);
  return requestId;
}

const inbox = async (agent: string, token: string) =>
  (await world.call(`/v1/teams/${world.team}/inbox/${agent}`, { token })).json.entries;

describe('questions over HTTP', () => {
  it('[WR-12] [PM-64] go from a message to the list of the lead, and the answer to the inbox of who asked', async () => {
    const id = await ask();
    const listed = await world.call(path(), { token: lead });
    expect(listed.json.questions).toMatchObject([
      { requestId: id, teammate: 'worker', inPlanMode: false, ask: { kind: 'questions', questions } },
    ]);
    const [{ askedAt, deadline }] = listed.json.questions;
    expect(Date.parse(deadline) - Date.parse(askedAt)).toBe(7_200_000);
    expect(await inbox(leadInboxName, lead)).toMatchObject([
      { from: 'worker', message: { type: 'question_request', requestId: id } },
    ]);

    const answers = { [which]: { labels: ['Red'], notes: { Red: 'the dark one' } } };
    const first = await answer(id, { answers });
    expect([first.status, first.json.end]).toEqual([
      200,
      { kind: 'answered', answers, answeredBy: 'local:lead' },
    ]);
    expect((await answer(id, { answers })).json).toEqual(first.json);
    expect(await inbox('worker', teammate)).toMatchObject([
      { from: leadInboxName, message: { type: 'question_response', requestId: id, end: first.json.end } },
    ]);
    expect(await inbox(leadInboxName, lead)).toEqual([]);
    expect((await world.call(path(), { token: lead })).json).toEqual({ questions: [] });
  });

  it('[WR-26] acknowledging one at the lead answers nothing: it stays', async () => {
    const id = await ask();
    const [{ id: entry }] = await inbox(leadInboxName, lead);
    const ack = await world.call(`/v1/teams/${world.team}/inbox/${leadInboxName}/ack`, {
      token: lead,
      body: { ids: [entry] },
    });
    expect(ack.json.acknowledged).toBe(0);
    expect(await inbox(leadInboxName, lead)).toHaveLength(1);
    await answer(id, { answers: { [which]: { labels: ['Red'] } } });
  });

  it('[PM-64] answers with unknown keys and labels are refused with their paths, and change nothing', async () => {
    const id = await ask();
    const refused = await answer(id, { answers: { 'Which size?': { labels: ['L'] } } });
    expect([refused.status, refused.json.code]).toEqual([400, 'validation_failed']);
    expect(refused.json.issues[0].path).toContain('Which size?');
    for (const body of [
      {},
      { answers: {} },
      { answers: { [which]: { labels: ['Green'] } } },
      { answers: { [which]: { labels: ['Red'], approved: true } } },
      { answers: { [which]: { labels: ['Red'] } }, approved: true },
      { consent: 'accepted' },
    ])
      expect((await answer(id, body)).status).toBe(400);
    expect((await answer(id, { answers: { [which]: { labels: ['Red'] } } })).status).toBe(200);
  });

  it('[PM-12] a consent is answered by accepted, declined or cancelled, and is no decision of any request', async () => {
    const record = await world.submit(teammate);
    const id = await ask({ type: 'consent_request', sessionId: record.sessionId, reason: 'It is big' });
    expect((await answer(id, { consent: 'approved' })).status).toBe(400);
    const declined = await answer(id, { consent: 'declined' });
    expect(declined.json.end).toEqual({ kind: 'consent', consent: 'declined', answeredBy: 'local:lead' });
    const other = await answer(id, { consent: 'accepted' });
    expect([other.status, other.json.code, other.json.current]).toEqual([
      409,
      'already_decided',
      { requestId: id, state: 'answered', endedAt: declined.json.endedAt, end: declined.json.end },
    ]);
    const { json } = await world.call(world.path(record.requestId), { token: lead });
    expect([json.state, json.decision]).toEqual(['pending', undefined]);
  });

  it('[IN-20] are listed and answered by leads of the team only', async () => {
    const id = await ask();
    const body = { answers: { [which]: { labels: ['Red'] } } };
    const elsewhere = await world.token({ teams: ['elsewhere'] });
    const observer = await world.token({ role: 'observer' });
    expect((await answer(id, body, teammate)).status).toBe(403);
    expect((await answer(id, body, observer)).status).toBe(403);
    expect((await answer(id, body, elsewhere)).status).toBe(404);
    expect((await world.call(path(), { token: teammate })).status).toBe(403);
    const ofOther = await world.call(`/v1/teams/elsewhere/questions/${encodeURIComponent(id)}/answer`, {
      token: elsewhere,
      body,
    });
    expect([ofOther.status, ofOther.json.code]).toEqual([404, 'not_found']);
    expect((await world.call(path(), { token: lead })).json.questions).toHaveLength(1);
    await answer(id, body);
  });

  it('[WR-12] nobody but a teammate asks, nobody but the lead is asked, and no message answers', async () => {
    const message = { type: 'question_request', requestId: 'q', sessionId: 's', questions };
    expect((await send(message, { token: lead })).status).toBe(403);
    expect((await send(message, { to: 'other' })).json.issues[0].path).toBe('to');
    expect((await send({ ...message, questions: [] })).status).toBe(400);
    const before = await inbox('worker', teammate);
    const answered = { timestamp: '2026-01-02T03:04:05.678Z', end: { kind: 'unanswered' } };
    for (const type of ['question_response', 'consent_response'])
      for (const token of [lead, teammate])
        expect((await send({ ...message, ...answered, type }, { token, to: 'worker' })).status).toBe(400);
    expect(await inbox('worker', teammate)).toEqual(before);
  });

  it('[PM-66] asked again under one ID it is one question, and another content is a conflict', async () => {
    const message = { type: 'question_request', requestId: 'again', sessionId: 's', questions };
    const [first, second] = [await send(message), await send(message)];
    expect([first.status, second.status, second.json]).toEqual([201, 201, first.json]);
    const other = await send({ ...message, sessionId: 's2' });
    expect([other.status, other.json.code]).toEqual([409, 'request_conflict']);
    await answer('again', { answers: { [which]: { text: 'neither', labels: [] } } });
  });

  it('[TM-15] end unanswered at their deadline though nobody reads them', async () => {
    const id = await ask({ deadline: new Date(Date.now() + 1500).toISOString() });
    const events = async () => (await world.mailbox.events.read(world.team, undefined, 1000)).events;
    await eventually(async () =>
      (await events()).some(({ requestId, state }) => requestId === id && state === 'unanswered'),
    );
    const late = await answer(id, { answers: { [which]: { labels: ['Red'] } } });
    expect([late.status, late.json.current.state]).toEqual([409, 'unanswered']);
  });

  it('[OP-5] are counted while they are open, and answers are not logged', async () => {
    const id = await ask();
    const openOf = async () =>
      /placet_open_questions\{team="[^"]+"\} (\d+)/.exec((await world.call('/metrics')).text)?.[1];
    expect(await openOf()).toBe('1');
    await answer(id, { answers: { [which]: { labels: [], text: 'a very secret answer' } } });
    expect(await openOf()).toBe('0');
    expect(world.logged.join('')).toContain('a question was answered');
    expect(world.logged.join('')).not.toContain('a very secret answer');
  });

  it('[2.4] can be asked, listed and answered by the typed client', async () => {
    const { url, team } = world;
    const [asker, answerer] = [
      new PlacetClient({ url, token: teammate }),
      new PlacetClient({ url, token: lead }),
    ];
    const message = { type: 'consent_request', requestId: 'by-client', sessionId: 's' };
    await asker.call('sendMessage', { params: { team }, body: { to: leadInboxName, message } });
    const { body } = await answerer.call('listQuestions', { params: { team }, query: { limit: 1 } });
    expect(body.questions.map(({ ask: { kind } }) => kind)).toEqual(['consent']);
    const said = await answerer.call('answerQuestion', {
      params: { team, id: 'by-client' },
      body: { consent: 'accepted' },
    });
    expect(said.body.end).toMatchObject({ kind: 'consent', consent: 'accepted' });
  });
});
