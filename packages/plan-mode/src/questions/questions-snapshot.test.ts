import { isPlacetError, toTimestamp } from '@placet/protocol';
import { describe, expect, it, vi } from 'vitest';
import { OpenQuestions } from './open-questions.ts';
import type { AskOptions, OpenQuestionsOptions } from './open-questions-options.ts';
import type { QuestionEvent } from './question-event.ts';
import { redis, startedAt, store, useOwnTime } from './question-host.test.fixture.ts';

useOwnTime();

/** A host with one session, at which a person counts as away after a minute. */
function host(from: { snapshot?: unknown } = {}) {
  const events: QuestionEvent[] = [];
  const options: OpenQuestionsOptions = {
    sessionId: 's1',
    afkConditions: () => ({
      timeout: '60s',
      interactive: true,
      foreground: true,
      screenReader: false,
      otherRacer: false,
    }),
    onEvent: (event) => void events.push(event),
  };
  const questions = from.snapshot
    ? OpenQuestions.restore(options, JSON.parse(JSON.stringify(from.snapshot)))
    : new OpenQuestions(options);
  const ask = (more: Partial<AskOptions> = {}) =>
    questions.ask([store], { requestId: 'q1', inPlanMode: true, ...more });
  return { questions, ask, events };
}

describe('a host that shuts down', () => {
  it('[PM-66] keeps open questions with what was chosen, and its successor takes their answer under the same ID', async () => {
    const { questions, ask, events } = host();
    const end = ask();
    questions.choose('q1', redis);
    const snapshot = questions.park();

    expect(await end).toEqual({ kind: 'parked', requestId: 'q1' });
    expect(events.at(-1)).toMatchObject({ type: 'question:parked', requestId: 'q1' });
    expect(vi.getTimerCount()).toBe(0);
    expect(questions.park()).toEqual(snapshot);

    const next = host({ snapshot });
    expect(next.questions.open).toMatchObject([{ requestId: 'q1', chosen: redis }]);
    const waiting = next.questions.wait('q1');
    next.questions.answer('q1', { answers: redis });
    expect(await waiting).toEqual({ kind: 'answered', answers: redis });
    expect(next.events).toMatchObject([{ type: 'question:ended', requestId: 'q1' }]);
  });

  it('[PM-66] takes no answer any more, so that none is lost, and asks nothing new', async () => {
    const { questions, ask } = host();
    void ask();
    questions.park();

    expect(questions.answer('q1', { answers: redis })).toMatchObject({
      kind: 'refused',
      code: 'session_busy',
    });
    expect(questions.choose('q1', redis)).toMatchObject({ code: 'session_busy' });
    expect(await ask()).toEqual({ kind: 'parked', requestId: 'q1' });
    expect(await ask({ requestId: 'q2' })).toEqual({ kind: 'interrupted', cause: 'shutdown' });
  });

  it('[PM-66] returns to an answer that came before the turn was taken up, over a second restart too', async () => {
    const first = host();
    void first.ask();
    const second = host({ snapshot: first.questions.park() });
    second.questions.answer('q1', { answers: redis });
    const third = host({ snapshot: second.questions.park() });

    expect(third.questions.answer('q1', { answers: redis })).toMatchObject({ code: 'already_decided' });
    expect(await third.ask()).toEqual({ kind: 'answered', answers: redis });
    expect(third.questions.snapshot().questions).toEqual([]);
  });

  it('[PM-66] forgets the oldest answer that no turn came back for, before it refuses to ask', async () => {
    const first = host();
    const ids = Array.from({ length: 64 }, (_, at) => `q${at}`);
    for (const requestId of ids) void first.ask({ requestId });
    const { questions, ask } = host({ snapshot: first.questions.park() });

    expect(await ask({ requestId: 'new' })).toMatchObject({ code: 'rate_limited' });
    questions.answer('q7', { answers: redis });
    void ask({ requestId: 'new' });
    expect(questions.open.at(-1)).toMatchObject({ requestId: 'new' });
    expect(questions.snapshot().questions).toHaveLength(64);
    expect(await questions.wait('q7')).toMatchObject({ kind: 'answered' });
  });

  it('[PM-66] asked again the same under the same ID, shows it once', async () => {
    const first = host();
    void first.ask();
    const second = host({ snapshot: first.questions.park() });
    const end = second.ask();

    expect(second.questions.open).toHaveLength(1);
    second.questions.answer('q1', { answers: redis });
    expect(await end).toMatchObject({ kind: 'answered' });
  });

  it('[PM-66, PM-65] counts nobody as away before the question is taken up', async () => {
    const first = host();
    void first.ask();
    const { questions } = host({ snapshot: first.questions.park() });
    vi.advanceTimersByTime(600_000);
    expect(questions.open).toHaveLength(1);
    const end = questions.wait('q1');
    vi.advanceTimersByTime(60_000);
    expect(await end).toMatchObject({ afkTimeoutMs: 60_000 });
  });

  it('[PM-66, PM-77] finds a question whose deadline has passed unanswered, and nothing else', async () => {
    const first = host();
    void first.ask({ deadline: toTimestamp(startedAt + 1000) });
    const { questions } = host({ snapshot: first.questions.park() });
    vi.advanceTimersByTime(1000);

    expect(await questions.wait('q1')).toEqual({ kind: 'unanswered' });
  });

  it('[PM-66] ends questions as a shutdown by the policy interrupt, also parked ones', async () => {
    const { questions, ask, events } = host();
    const end = ask();
    questions.interrupt();

    expect(await end).toEqual({ kind: 'interrupted', cause: 'shutdown' });
    expect(questions.snapshot().questions).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'question:ended', end: 'interrupted' });

    const parked = host();
    void parked.ask();
    parked.questions.park();
    parked.questions.interrupt();
    expect(parked.questions.snapshot().questions).toEqual([]);
    expect(await parked.ask({ requestId: 'q2' })).toEqual({ kind: 'interrupted', cause: 'shutdown' });
  });

  it.each([
    undefined,
    {},
    { version: 2, sessionId: 's1', questions: [] },
    { version: 1, sessionId: 's2', questions: [] },
    { version: 1, sessionId: 's1', questions: [{ requestId: 'q1' }] },
  ])('[PM-66] restores nothing from %j', (snapshot) => {
    let thrown: unknown;
    try {
      OpenQuestions.restore({ sessionId: 's1' }, snapshot);
    } catch (error) {
      thrown = error;
    }
    expect(isPlacetError(thrown, 'validation_failed')).toBe(true);
  });

  it('[PM-66] restores no question twice, and none that ended in a way it was not asked', () => {
    const { questions, ask } = host();
    void ask();
    const snapshot = questions.park();
    const [kept] = snapshot.questions;
    const consent = { kind: 'consent', consent: 'accepted' };

    for (const all of [[kept, kept], [{ ...kept, end: consent }]])
      expect(() => host({ snapshot: { ...snapshot, questions: all } })).toThrow('is not valid');
  });
});
