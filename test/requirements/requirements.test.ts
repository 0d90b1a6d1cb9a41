import { describe, expect, it } from 'vitest';
import { sourceFiles, textOf } from '../support/repository.ts';
import { citationsIn } from './cited-rules.ts';
import { rules } from './rules.ts';

const citations = sourceFiles()
  .filter((path) => /\.(?:test|spec)\.tsx?$/.test(path) && !path.startsWith('test/bench/peers/'))
  .flatMap((path) => citationsIn(path, textOf(path)));

describe('the table of rules', () => {
  it('has each rule once', () => {
    const ids = rules.map(({ id }) => id);

    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('has every rule that a test cites', () => {
    const known = new Set(rules.map(({ id }) => id));
    const unknown = citations.filter((citation) => citation.rules.some((id) => !known.has(id)));

    expect(citations).not.toEqual([]);
    expect(unknown.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  it('calls a rule built only where a test that runs cites it', () => {
    const held = new Set(citations.filter(({ runs }) => runs).flatMap((citation) => citation.rules));
    const unproved = rules.filter(({ id, status }) => status === 'built' && !held.has(id));

    expect(unproved.map(({ id, says }) => `${id}: ${says}`)).toEqual([]);
  });
});

describe('the citations of a test file', () => {
  const rulesOf = (text: string) => citationsIn('a.test.ts', text).map(({ rules, runs }) => [rules, runs]);

  it.each([
    ["it('[WR-1] a', () => {});", [[['WR-1'], true]]],
    ["describe('[WR-1, I2] a', () => { it('b', () => {}); });", [[['WR-1', 'I2'], true]]],
    ["test.each(rows)('[TM-5] %s', () => {});", [[['TM-5'], true]]],
    ['it(`[TM-5] with [TM-6]`, () => {});', [[['TM-5', 'TM-6'], true]]],
    ["it.skip('[WR-1] a', () => {});", [[['WR-1'], false]]],
    ["it.todo('[WR-1] a');", [[['WR-1'], false]]],
    ["// it('[WR-1] a')", []],
    ["expect('[WR-1]').toBe(a[0]);", []],
    ["it('a', () => { say('[WR-1]'); });", []],
  ])('are right for %s', (text, expected) => {
    expect(rulesOf(text)).toEqual(expected);
  });
});
