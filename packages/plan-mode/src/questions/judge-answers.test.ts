import { Questions } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeAnswers, judgeChosen } from './judge-answers.ts';

const questions = Questions.parse([
  { question: 'Which store?', header: 'Store', options: [{ label: 'Redis' }, { label: 'Postgres' }] },
]);

describe('answers that somebody sent', () => {
  it('[PM-64] are taken when every key and label is known', () => {
    const answers = { 'Which store?': { labels: ['Redis'], text: 'for now', notes: { Postgres: 'later' } } };

    expect(judgeAnswers(questions, answers)).toEqual({ kind: 'taken', answers });
  });

  it.each([
    undefined,
    null,
    [],
    'Redis',
    {},
    { 'Which store?': 'Redis' },
    { 'Which store?': { labels: ['MySQL'] } },
    { 'Which store?': { labels: ['Redis'], answer: 'Redis' } },
    { 'which store?': { labels: ['Redis'] } },
    { 'Which store?': { labels: ['Redis'] }, toString: { labels: ['Redis'] } },
    JSON.parse('{"Which store?":{"labels":["Redis"]},"__proto__":{"labels":["Redis"]}}'),
    JSON.parse('{"Which store?":{"labels":["Redis"]},"constructor":{"labels":["Redis"]}}'),
    JSON.parse('{"Which store?":{"labels":["Redis"],"notes":{"__proto__":"a"}}}'),
    { 'Which store?': { labels: [], text: 'a\0b' } },
  ])('[PM-64] are refused, all of them, as %j', (sent) => {
    expect(judgeAnswers(questions, sent)).toMatchObject({ kind: 'refused', code: 'validation_failed' });
  });

  it('[PM-65] may be nothing while they are not sent, and are held to the same rules then', () => {
    expect(judgeChosen(questions, {})).toEqual({ kind: 'taken', answers: {} });
    expect(judgeChosen(questions, { 'Which store?': { labels: ['MySQL'] } })).toMatchObject({
      kind: 'refused',
    });
    expect(judgeChosen(questions, [])).toMatchObject({ kind: 'refused' });
  });

  it('[PM-64] never make an exception or an answer that was not offered, whatever is sent', () => {
    const answer = fc.oneof(
      fc.anything(),
      fc.record({ labels: fc.array(fc.constantFrom('Redis', 'redis', 'x')) }),
    );
    const sent = fc.oneof(
      fc.anything(),
      fc.dictionary(fc.constantFrom('Which store?', '__proto__', 'a'), answer),
    );
    fc.assert(
      fc.property(sent, (anything) => {
        const verdict = judgeAnswers(questions, anything);
        if (verdict.kind === 'refused') return;
        expect(Object.keys(verdict.answers)).toEqual(['Which store?']);
        for (const { labels } of Object.values(verdict.answers))
          for (const label of labels) expect(['Redis', 'Postgres']).toContain(label);
      }),
      { numRuns: 500 },
    );
  });
});
