import { toTimestamp } from '@placet/protocol';
import { describe, expect, it, vi } from 'vitest';
import type { AfkConditions } from './afk-timeout.ts';
import { OpenQuestions } from './open-questions.ts';
import { host, isSettled, redis, startedAt, store, useOwnTime } from './question-host.test.fixture.ts';

useOwnTime();

describe('a deadline', () => {
  it('[PM-77, I6] end unanswered at their deadline, which is a day away unless it is set', async () => {
    const { ask } = host({ conditions: { interactive: false } });
    const [early, late] = [
      ask({ deadline: toTimestamp(startedAt + 5000) }),
      ask({ requestId: 'q2' }, [{ ...store, question: 'Which one?' }]),
    ];
    vi.advanceTimersByTime(4999);
    expect(await isSettled(early)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await early).toEqual({ kind: 'unanswered' });
    vi.advanceTimersByTime(24 * 3_600_000 - 5001);
    expect(await isSettled(late)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await late).toEqual({ kind: 'unanswered' });
  });

  it('[PM-77] wait for a deadline that is further away than a timer goes', async () => {
    const { ask } = host({ conditions: { timeout: 'never' } });
    const end = ask({ deadline: toTimestamp(startedAt + 2 ** 32) });
    vi.advanceTimersByTime(2 ** 32 - 1);
    expect(await isSettled(end)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await end).toEqual({ kind: 'unanswered' });
  });
});

describe('a person who may be away', () => {
  it('[PM-65] sends what they had chosen, after the time that is set, and the event says so', async () => {
    const { questions, ask, events } = host();
    const end = ask();
    questions.choose('q1', redis);
    vi.advanceTimersByTime(59_999);
    expect(await isSettled(end)).toBe(false);
    vi.advanceTimersByTime(1);

    expect(await end).toEqual({
      kind: 'answered',
      answers: redis,
      afkTimeoutMs: 60_000,
      hadPartialAnswers: true,
    });
    expect(events.at(-1)).toMatchObject({ inPlanMode: true, afkTimeoutMs: 60_000, hadPartialAnswers: true });
  });

  it('[PM-65, I6] sends nothing where nothing was chosen; that is no approval of anything', async () => {
    const { ask } = host();
    const end = ask({ inPlanMode: false });
    vi.advanceTimersByTime(60_000);

    expect(await end).toEqual({
      kind: 'answered',
      answers: {},
      afkTimeoutMs: 60_000,
      hadPartialAnswers: false,
    });
  });

  it('[PM-65] is not away while there are signs of them, nor is a wrong choice one', async () => {
    const { questions, ask } = host();
    const end = ask();
    vi.advanceTimersByTime(50_000);
    expect(questions.choose('q1', redis)).toEqual({ kind: 'noted' });
    expect(questions.open[0]?.afkAt).toBe(toTimestamp(startedAt + 110_000));
    vi.advanceTimersByTime(50_000);
    expect(questions.choose('q1', { 'Which store?': { labels: ['MySQL'] } })).toMatchObject({
      kind: 'refused',
    });
    expect(await isSettled(end)).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(await end).toMatchObject({ answers: redis });
  });

  it.each<Partial<AfkConditions>>([
    { timeout: 'never' },
    { interactive: false },
    { foreground: false },
    { screenReader: true },
    { otherRacer: true },
  ])('[PM-65] never is with %j, from the beginning or only later', async (change) => {
    const before = host({ conditions: change });
    const later = host();
    const ends = [before.ask(), later.ask()];
    Object.assign(later.conditions, change);
    vi.advanceTimersByTime(600_000);

    expect(before.questions.open[0]?.afkAt).toBeUndefined();
    expect(await Promise.all(ends.map(isSettled))).toEqual([false, false]);
  });

  it('[PM-65] counts from when the conditions hold, if the host says so', async () => {
    const { questions, ask, conditions } = host({ conditions: { foreground: false } });
    const end = ask();
    vi.advanceTimersByTime(100_000);
    conditions.foreground = true;
    questions.conditionsChanged();
    vi.advanceTimersByTime(59_999);
    expect(await isSettled(end)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await end).toMatchObject({ afkTimeoutMs: 60_000 });
  });

  it('[PM-65, PM-12] is not away from a consent, and never where the conditions cannot be told', async () => {
    const { questions } = host();
    const consent = questions.askConsent(undefined, { requestId: 'c1', inPlanMode: false });
    vi.advanceTimersByTime(600_000);
    expect(await isSettled(consent)).toBe(false);

    const unsure = new OpenQuestions({
      sessionId: 's2',
      afkConditions: () => {
        throw new Error('no window');
      },
    });
    const end = unsure.ask([store], { inPlanMode: true });
    vi.advanceTimersByTime(600_000);
    expect(await isSettled(end)).toBe(false);
  });
});
