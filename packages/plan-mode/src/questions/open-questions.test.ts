import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { OpenQuestions } from './open-questions.ts';
import { host, isSettled, redis, store, useOwnTime } from './question-host.test.fixture.ts';

useOwnTime();

describe('open questions', () => {
  it('[PM-64] block until they are answered, and end with the answer', async () => {
    const { questions, ask, events } = host({ conditions: { timeout: 'never' } });
    const end = ask();

    expect(await isSettled(end)).toBe(false);
    expect(questions.open).toMatchObject([
      { requestId: 'q1', inPlanMode: true, ask: { questions: [store] } },
    ]);
    expect(questions.answer('q1', { answers: redis }, 'local:ada')).toMatchObject({ kind: 'taken' });
    expect(await end).toEqual({ kind: 'answered', answers: redis, answeredBy: 'local:ada' });
    expect(questions.open).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    expect(events).toMatchObject([{ type: 'question:asked' }, { type: 'question:ended', end: 'answered' }]);
    expect(JSON.stringify(events)).not.toContain('Redis');
  });

  it('[PM-64] stay open over an answer that is refused', async () => {
    const { questions, ask } = host();
    const end = ask();

    for (const body of [
      { answers: { 'Which planet?': { labels: ['Redis'] } } },
      { answers: { 'Which store?': { labels: ['MySQL'] } } },
      { answers: redis, afkTimeoutMs: 1, hadPartialAnswers: true },
      { consent: 'accepted' },
      {},
      undefined,
    ])
      expect(questions.answer('q1', body)).toMatchObject({ kind: 'refused', code: 'validation_failed' });
    expect(questions.answer('q2', { answers: redis })).toMatchObject({ code: 'not_found' });
    expect(await isSettled(end)).toBe(false);
    questions.answer('q1', { answers: redis });
    expect(await end).toMatchObject({ kind: 'answered' });
  });

  it('[PM-64] take the first of two answers', async () => {
    const { questions, ask } = host();
    const end = ask();
    questions.answer('q1', { answers: redis });

    expect(questions.answer('q1', { answers: { 'Which store?': { labels: ['Postgres'] } } })).toMatchObject({
      code: 'already_decided',
    });
    expect(await end).toEqual({ kind: 'answered', answers: redis });
  });

  it('[PM-60] are not shown where they are refused', async () => {
    const { questions, ask, events } = host();

    expect(await ask({}, [{ ...store, options: [] }])).toMatchObject({
      kind: 'refused',
      code: 'validation_failed',
    });
    expect([questions.open, events]).toEqual([[], []]);
  });

  it('[PM-77] are taken back by the signal, before or during', async () => {
    const { questions, ask, events } = host();
    const controller = new AbortController();
    const end = ask({ signal: controller.signal });
    controller.abort();

    expect(await end).toEqual({ kind: 'interrupted', cause: 'withdrawn' });
    expect(await ask({ requestId: 'q2', signal: controller.signal })).toEqual({
      kind: 'interrupted',
      cause: 'withdrawn',
    });
    expect(questions.answer('q1', { answers: redis })).toMatchObject({ code: 'not_found' });
    expect(events.map(({ requestId, type }) => `${requestId} ${type}`)).toEqual([
      'q1 question:asked',
      'q1 question:ended',
    ]);
  });

  it('[PM-66] are the same under the same ID, and others are refused it', async () => {
    const { questions, ask } = host();
    const ends = [ask(), ask()];

    expect(questions.open).toHaveLength(1);
    expect(await ask({}, [{ ...store, question: 'Which one?' }])).toMatchObject({ code: 'request_conflict' });
    questions.answer('q1', { answers: redis });
    expect(await Promise.all([...ends, ask()])).toEqual(Array(3).fill({ kind: 'answered', answers: redis }));
  });

  it('[PM-64] are 64 at most', async () => {
    const { questions } = host();
    const ask = () => questions.ask([store], { inPlanMode: true });
    const ends = Array.from({ length: 64 }, ask);

    expect(await ask()).toMatchObject({
      kind: 'refused',
      code: 'rate_limited',
      textForModel: expect.any(String),
    });
    questions.interrupt();
    expect(await Promise.all(ends)).toHaveLength(64);
  });

  it('[PM-66] that could not be kept are not asked, for they would take the others with them', async () => {
    const { questions, ask } = host();
    const consent = (reason: string) => questions.askConsent(reason, { inPlanMode: false });

    for (const refused of [
      consent('a'.repeat(20_001)),
      consent('\ud800'),
      ask({ deadline: 'soon' }),
      ask({ requestId: 'a b' }),
    ])
      expect(await refused).toMatchObject({ kind: 'refused', code: 'validation_failed' });
    expect(questions.open).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[PM-64] end whatever a listener throws', async () => {
    const questions = new OpenQuestions({
      sessionId: 's1',
      onEvent: () => {
        throw new Error('broken');
      },
    });
    const end = questions.ask([store], { requestId: 'q1', inPlanMode: false });
    questions.answer('q1', { answers: redis });

    expect(await end).toMatchObject({ kind: 'answered' });
  });
});

describe('asking', () => {
  it('[PM-64, PM-65, PM-66] always settles, once, and only with what somebody sent or chose', async () => {
    const step = fc.constantFrom(
      'answer',
      'wrong',
      'choose',
      'pass',
      'away',
      'leave',
      'park',
      'interrupt',
      'abort',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { questions, ask, conditions } = host();
        const controller = new AbortController();
        const end = ask({ signal: controller.signal });
        const postgres = { 'Which store?': { labels: ['Postgres'] } };
        const acts = {
          answer: () => questions.answer('q1', { answers: redis }),
          wrong: () => questions.answer('q1', { answers: { x: { labels: ['y'] } } }),
          choose: () => questions.choose('q1', postgres),
          pass: () => vi.advanceTimersByTime(59_000),
          away: () => vi.advanceTimersByTime(61_000),
          leave: () => Object.assign(conditions, { foreground: !conditions.foreground }),
          park: () => questions.park(),
          interrupt: () => questions.interrupt(),
          abort: () => controller.abort(),
        };
        for (const name of steps) acts[name]();
        vi.advanceTimersByTime(25 * 3_600_000);

        expect(await isSettled(end)).toBe(true);
        const ended = await end;
        expect(ended.kind).not.toBe('refused');
        if (ended.kind === 'answered' && ended.afkTimeoutMs === undefined) expect(steps).toContain('answer');
        if (ended.kind === 'answered' && Object.keys(ended.answers).length > 0)
          expect([redis, postgres]).toContainEqual(ended.answers);
        expect(vi.getTimerCount()).toBe(0);
        expect(questions.open).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
