import { Questions } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeQuestions } from './judge-questions.ts';

const option = (label: string, more: object = {}) => ({ label, ...more });
const question = (more: object = {}) => ({
  question: 'Which store?',
  header: 'Store',
  options: [option('Redis'), option('Postgres')],
  ...more,
});
const judge = (...questions: unknown[]) => judgeQuestions({ questions });
const reasonsOf = (...questions: unknown[]) => {
  const verdict = judge(...questions);
  return verdict.kind === 'refused' ? verdict.faults.map(({ reason }) => reason) : [];
};
const textOf = (...questions: unknown[]) => {
  const verdict = judge(...questions);
  return verdict.kind === 'refused' ? verdict.textForModel : '';
};
const some = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

describe('questions of a model', () => {
  it('[PM-60] are asked as they are, one may be chosen unless it says otherwise', () => {
    expect(judge(question(), question({ question: 'Which regions?', multiSelect: true }))).toEqual({
      kind: 'ask',
      questions: [
        { ...question(), multiSelect: false },
        { ...question(), question: 'Which regions?', multiSelect: true },
      ],
    });
  });

  it('[PM-60] are 1 to 4, with 2 to 4 options and headers of at most 12 characters', () => {
    const asked = (count: number) => some(count, (at) => question({ question: `Which, ${at}?` }));
    const options = (count: number) => question({ options: some(count, (at) => option(`Way ${at}`)) });

    expect([1, 4].map((count) => reasonsOf(...asked(count)))).toEqual([[], []]);
    expect([0, 5].map((count) => reasonsOf(...asked(count)))).toEqual([['shape'], ['shape']]);
    expect([2, 4].map((count) => reasonsOf(options(count)))).toEqual([[], []]);
    expect(reasonsOf(options(5))).toEqual(['shape']);
    expect(reasonsOf(question({ header: 'Twelve chars' }))).toEqual([]);
    expect(reasonsOf(question({ header: 'Thirteen char' }))).toEqual(['shape']);
  });

  it('[PM-60] have texts of their own, to the code point', () => {
    expect(reasonsOf(question(), question())).toEqual(['not_unique']);
    expect(reasonsOf(question({ options: [option('Redis'), option('Redis')] }))).toEqual(['not_unique']);
    expect(reasonsOf(question({ options: [option('Café'), option('Cafe\u0301')] }))).toEqual([]);
    expect(reasonsOf(question(), question({ question: 'Which store? ' }))).toEqual([]);
  });

  it.each([
    'Other',
    'other',
    ' OTHER… ',
    'Other:',
    'Others',
    'Ot\u200bher',
    'Ｏｔｈｅｒ',
    'Other (please specify)',
    '"Other"',
  ])('[PM-60] have no option %j, which the surface adds', (label) => {
    expect(reasonsOf(question({ options: [option('Redis'), option(label)] }))).toEqual(['other_option']);
  });

  it.each(['Other people decide', 'Another store', 'Other store', 'Mother', 'Otherwise'])(
    '[PM-60] may have an option %j',
    (label) => {
      expect(reasonsOf(question({ options: [option('Redis'), option(label)] }))).toEqual([]);
    },
  );

  it('[PM-62] with fewer than two options are not shown, and the model is told to go its way', () => {
    for (const options of [[], [option('Redis')], undefined]) {
      expect(reasonsOf(question({ options }))).toEqual(['too_few_options']);
      const text = textOf(question({ options }));
      expect(text).toContain('Nobody was shown these questions');
      expect(text).toContain('Do not invent a second option');
      expect(text).toContain('say in a sentence which way you will go');
      expect(text).not.toContain('other questions');
    }
    expect(textOf(question(), question({ question: 'Which?', options: [] }))).toContain(
      'You can ask the other questions again without it.',
    );
  });

  it('[PM-63] that ask for approval are sent to plan submission', () => {
    expect(reasonsOf(question({ question: 'Is the plan OK?' }))).toEqual(['asks_for_approval']);
    expect(textOf(question(), question({ question: 'Shall I begin?' }))).toMatch(
      /Question 2 asks for approval.*plan_submit or ExitPlanMode/,
    );
    expect(reasonsOf(question({ question: 'Should approval emails be sent?' }))).toEqual([]);
  });

  it('[PM-61] with a preview that could act are refused, with the option named', () => {
    const preview = '<p onclick="alert(1)">a</p>';
    expect(reasonsOf(question({ options: [option('Redis', { preview }), option('Postgres')] }))).toEqual([
      'preview',
    ]);
    expect(textOf(question({ options: [option('Redis', { preview }), option('Postgres')] }))).toContain(
      'Question 1, preview of "Redis": it has an event handler',
    );
    const fine = '<p style="color:red">a</p>';
    expect(
      judge(question({ options: [option('Redis', { preview: fine }), option('Postgres')] })),
    ).toMatchObject({
      questions: [{ options: [{ preview: fine }, {}] }],
    });
  });

  it('[PM-64] take no answer from the model that asks', () => {
    const verdict = judgeQuestions({
      questions: [
        question({ answer: 'Redis', options: [option('Redis', { selected: true }), option('Postgres')] }),
      ],
      answers: { 'Which store?': { labels: ['Redis'] } },
    });

    expect(verdict).toEqual({ kind: 'ask', questions: [{ ...question(), multiSelect: false }] });
  });

  it.each(['__proto__', 'constructor', 'prototype', ' ', '\u200b\u2060', '\u2800'])(
    '[PM-64] have no text %j, which could be no key or not be seen',
    (text) => {
      expect(reasonsOf(question({ question: text }))).toEqual(['unusable_text']);
      expect(reasonsOf(question({ options: [option(text), option('Redis')] }))).toEqual(['unusable_text']);
    },
  );

  it.each([
    undefined,
    null,
    'Which?',
    [],
    {},
    { questions: 'Which?' },
    { questions: [null] },
    { questions: [[]] },
    { questions: [question({ options: 'Redis' })] },
    { questions: [question({ options: [null, null] })] },
    { questions: [question({ question: 'a\0b' })] },
    { questions: [question({ question: '\ud800' })] },
    { questions: [question({ multiSelect: 'yes' })] },
    { questions: [question({ question: 'a'.repeat(2001) })] },
    Object.create({ questions: [question()] }),
    JSON.parse('{"questions":[{"__proto__":{"question":"Which?"}}]}'),
  ])('[PM-60] are refused as %j, with a text for the model', (input) => {
    expect(judgeQuestions(input)).toMatchObject({
      kind: 'refused',
      code: 'validation_failed',
      textForModel: expect.stringMatching(/^Nobody was shown these questions/),
    });
  });

  it('[PM-60, PM-64] are judged without an exception, and what is asked is within the rules, whatever comes', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('Redis', 'Other', '__proto__', 'Café', 'Cafe\u0301', '<b>'),
    );
    const anyOption = fc.oneof(
      { weight: 9, arbitrary: fc.record({ label: text, preview: text }, { requiredKeys: ['label'] }) },
      { weight: 1, arbitrary: fc.anything() },
    );
    const anyQuestion = fc.record({
      question: text,
      header: fc.string({ maxLength: 13 }),
      options: fc.array(anyOption, { maxLength: 5 }),
    });
    const input = fc.oneof(fc.anything(), fc.record({ questions: fc.array(anyQuestion, { maxLength: 5 }) }));
    fc.assert(
      fc.property(input, (sent) => {
        const verdict = judgeQuestions(sent);
        if (verdict.kind === 'refused') {
          expect(verdict.faults).not.toEqual([]);
          return;
        }
        expect(Questions.parse(verdict.questions)).toEqual(verdict.questions);
        for (const { options } of verdict.questions)
          expect(new Set(options.map(({ label }) => label)).size).toBe(options.length);
        expect(judgeQuestions({ questions: verdict.questions })).toEqual(verdict);
      }),
      { numRuns: 500 },
    );
  });
});
