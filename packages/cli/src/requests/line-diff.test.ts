import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffLine, diffLines, withContext } from './line-diff.ts';

const written = (lines: (DiffLine | null)[]) =>
  lines.map((line) => (line ? line.kind + line.text : '…')).join('|');

test.each([
  ['a\nb\nc', 'a\nx\nc', ' a|-b|+x| c'],
  ['a', 'a', ' a'],
  ['', 'a', '-|+a'],
  ['a\nb', 'b', '-a| b'],
  ['b', 'a\nb\nc', '+a| b|+c'],
  ['a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc', '-a|-b| c|+b| a| b|-b| a|+c'],
])('from %j to %j is %s', (before, after, expected) => {
  expect(written(diffLines(before, after))).toBe(expected);
});

test('kept and removed lines are the old text, kept and added ones the new', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
    .map((lines) => lines.join('\n'));
  const side = (lines: DiffLine[], left: string) =>
    lines
      .filter(({ kind }) => kind !== left)
      .map((line) => line.text)
      .join('\n');
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      expect(side(lines, '+')).toBe(before);
      expect(side(lines, '-')).toBe(after);
    }),
  );
});

test('only the surroundings of changes are shown', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng';
  expect(written(withContext(diffLines(before, before.replace('d', 'x')), 1))).toBe('…| c|-d|+x| e|…');
});
