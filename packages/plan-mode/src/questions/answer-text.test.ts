import { Questions } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { answerText } from './answer-text.ts';
import type { QuestionsEnd } from './ask-end.ts';

const questions = Questions.parse([
  { question: 'Which store?', header: 'Store', options: [{ label: 'Redis' }, { label: 'Postgres' }] },
  {
    question: 'constructor?',
    header: 'Regions',
    options: [{ label: 'eu' }, { label: 'us' }],
    multiSelect: true,
  },
]);
const textOf = (end: QuestionsEnd, inPlanMode?: boolean) =>
  answerText({ questions, end, ...(inPlanMode !== undefined && { inPlanMode }) });

const ends = {
  options: { kind: 'answered', answers: { 'Which store?': { labels: ['Redis'] } } },
  freeText: { kind: 'answered', answers: { 'Which store?': { labels: [], text: 'SQLite\nwith **WAL**' } } },
  both: { kind: 'answered', answers: { 'constructor?': { labels: ['us', 'eu'], text: 'and ap' } } },
  notes: { kind: 'answered', answers: { 'Which store?': { labels: [], notes: { Redis: 'too dear' } } } },
  unanswered: { kind: 'unanswered' },
  partial: {
    kind: 'answered',
    answers: { 'Which store?': { labels: ['Redis'], notes: { Redis: 'version 8' } } },
    afkTimeoutMs: 300_000,
    hadPartialAnswers: true,
  },
  away: { kind: 'answered', answers: {}, afkTimeoutMs: 60_000, hadPartialAnswers: false },
  parked: { kind: 'parked', requestId: 'q1' },
  shutdown: { kind: 'interrupted', cause: 'shutdown' },
  withdrawn: { kind: 'interrupted', cause: 'withdrawn' },
} satisfies Record<string, QuestionsEnd>;

describe('what the model gets for its questions', () => {
  it('[PM-64] differs for every kind of end, in its first words', () => {
    const heads = Object.values(ends).map((end) => textOf(end).split('\n')[0]);

    expect(new Set(heads).size).toBe(heads.length);
  });

  it('[PM-64] names each question with what was chosen, noted and written, to the character', () => {
    expect(textOf(ends.options, false)).toBe(
      'The person chose among your options:\n\n1. Which store?\nChosen: Redis\n\n2. constructor?\nNot answered.',
    );
    expect(textOf(ends.freeText)).toContain(
      '1. Which store?\nIn their own words: SQLite\nwith **WAL**\n\n2.',
    );
    expect(textOf(ends.both)).toContain(
      '2. constructor?\nChosen: us\nChosen: eu\nIn their own words: and ap',
    );
    expect(textOf(ends.notes)).toContain('Note on Redis: too dear');
  });

  it('[PM-65] of a person who went away has their choices verbatim, and asks for best judgement', () => {
    expect(textOf(ends.partial)).toBe(
      [
        'The person may be away from the keyboard: for 300 s there was no sign of them, and the questions went on without them.',
        'What they had chosen until then, without sending it:',
        '1. Which store?\nChosen: Redis\nNote on Redis: version 8',
        '2. constructor?\nNot answered.',
        'Use your best judgement for what is open, with all you know. Say which assumptions you made, and ask again later if one of them matters.',
        'This approves no plan: a plan is approved by submitting it, and by nothing else.',
      ].join('\n\n'),
    );
    expect(textOf(ends.away)).toContain('They had chosen nothing.');
  });

  it('[PM-65] always says of a person who is away that this approves no plan, and of others while planning', () => {
    expect(textOf(ends.away, false)).toContain('This approves no plan');
    expect(textOf(ends.partial, false)).toContain('This approves no plan');
    expect(textOf(ends.options)).toContain('This approves no plan');
    expect(textOf(ends.unanswered)).toContain('This approves no plan');
    expect(textOf(ends.options, false)).not.toContain('approves');
  });

  it('[PM-66] calls no shutdown a refusal, and invents no answer', () => {
    for (const end of [ends.parked, ends.shutdown, ends.withdrawn]) {
      expect(textOf(end)).toContain('Nobody declined anything');
      expect(textOf(end)).toContain('assume no answer');
      expect(textOf(end)).not.toMatch(/Redis|Chosen/);
    }
  });
});
