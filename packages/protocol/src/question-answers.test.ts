import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultsOfAnswers } from './question-answers.ts';
import { Answer, Question } from './questions.ts';

const store = Question.parse({
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Redis' }, { label: 'Café' }, { label: 'constructor' }],
});
const regions = Question.parse({
  question: 'Which regions?',
  header: 'Regions',
  multiSelect: true,
  options: [{ label: 'eu' }, { label: 'us' }],
});
const messages = (answers: Record<string, Answer>) =>
  faultsOfAnswers([store, regions], answers).map(({ message }) => message);
const chosen = (...labels: string[]): Answer => ({ labels });

describe('answers against their questions', () => {
  it('[PM-64] take labels, a text of one’s own and notes, to some or all of the questions', () => {
    expect(messages({ 'Which store?': chosen('Redis') })).toEqual([]);
    expect(messages({ 'Which store?': { labels: [], text: 'Whatever is there' } })).toEqual([]);
    expect(
      messages({
        'Which store?': { labels: ['constructor'], text: 'and', notes: { Redis: 'no' } },
        'Which regions?': chosen('us', 'eu'),
      }),
    ).toEqual([]);
  });

  it.each(['which store?', 'Which store? ', 'Which store', 'toString', 'constructor', 'hasOwnProperty'])(
    '[PM-64] refuse the key %j, which is no full question text',
    (key) => {
      expect(messages({ [key]: chosen('Redis') })).toEqual([
        'is not the full text of a question that was asked',
      ]);
    },
  );

  it('[PM-64] refuse labels of no option, also of another question or in another normal form', () => {
    for (const label of ['redis', 'eu', 'Other', 'Cafe\u0301', '__proto__', 'toString'])
      expect(messages({ 'Which store?': chosen(label) })).toEqual([
        `${JSON.stringify(label)} is not the label of one of its options`,
      ]);
    expect(messages({ 'Which store?': { labels: ['Redis'], notes: { MySQL: 'why not' } } })).toEqual([
      'has a note on "MySQL", which is not one of its options',
    ]);
  });

  it('[PM-64] refuse two of a choice of one, the same twice, and answers that say nothing', () => {
    expect(messages({ 'Which store?': chosen('Redis', 'Café') })).toEqual([
      'names several options where one may be chosen',
    ]);
    expect(messages({ 'Which regions?': chosen('eu', 'eu') })).toEqual(['names an option twice']);
    expect(messages({ 'Which store?': { labels: [], text: ' \n', notes: { Redis: ' ' } } })).toEqual([
      'says nothing: neither an option, nor a text, nor a note',
    ]);
    expect(messages({})).toEqual(['answers none of the questions']);
  });

  it('[PM-64] refuse some of the keys and with them the whole', () => {
    expect(messages({ 'Which store?': chosen('Redis'), 'Which planet?': chosen('eu') })).toHaveLength(1);
  });

  it('[PM-64] list 20 faults at most, and quote little of what was sent', () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`${at}${'x'.repeat(5000)}`, chosen('y')]),
    );
    const issues = faultsOfAnswers([store], many);

    expect(issues).toHaveLength(20);
    expect(JSON.stringify(issues).length).toBeLessThan(5000);
  });

  it('[PM-64] take nothing but the words that were asked, whatever is sent', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.array(fc.string(), { maxLength: 4 })), (sent) => {
        const answers = Object.fromEntries(
          Object.entries(sent).map(([key, labels]) => [key, Answer.parse({ labels })]),
        );
        const isFine = Object.entries(sent).every(
          ([key, labels]) =>
            key === regions.question && labels.length > 0 && labels.every((label) => /^(eu|us)$/.test(label)),
        );
        if (!isFine || Object.keys(sent).length === 0)
          expect(faultsOfAnswers([regions], answers)).not.toEqual([]);
      }),
    );
  });
});
