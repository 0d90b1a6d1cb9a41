import { afterEach, beforeEach, vi } from 'vitest';
import type { AfkConditions } from './afk-timeout.ts';
import { OpenQuestions } from './open-questions.ts';
import type { AskOptions } from './open-questions-options.ts';
import type { QuestionEvent } from './question-event.ts';

/** A question, and an answer to it. */
export const store = {
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Redis' }, { label: 'Postgres' }],
};
export const redis = { 'Which store?': { labels: ['Redis'] } };
/** When the tests' time begins, in milliseconds since the epoch. */
export const startedAt = Date.parse('2026-01-01T00:00:00.000Z');

/** Has each test own the time. */
export function useOwnTime(): void {
  beforeEach(() => void vi.useFakeTimers({ now: startedAt }));
  afterEach(() => void vi.useRealTimers());
}

/** A host with one session, whose conditions a test can change. */
export function host(from: { conditions?: Partial<AfkConditions> } = {}) {
  const events: QuestionEvent[] = [];
  const conditions: AfkConditions = {
    timeout: '60s',
    interactive: true,
    foreground: true,
    screenReader: false,
    otherRacer: false,
    ...from.conditions,
  };
  const questions = new OpenQuestions({
    sessionId: 's1',
    afkConditions: () => conditions,
    onEvent: (event) => void events.push(event),
  });
  const ask = (more: Partial<AskOptions> = {}, what: unknown = [store]) =>
    questions.ask(what, { requestId: 'q1', inPlanMode: true, ...more });
  return { questions, ask, events, conditions };
}

/** Whether a promise has settled by now. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return settled;
}
