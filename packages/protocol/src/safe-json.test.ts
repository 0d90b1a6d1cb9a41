import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findUnsafeJson, maxJsonDepth } from './safe-json.ts';

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

test.each([
  ['a NUL character', { plan: { text: 'a\0b' } }, 'plan.text'],
  ['a lone surrogate', { labels: ['ok', '\ud800'] }, 'labels.1'],
  ['a NUL in a key', { a: { 'k\0': 1 } }, 'a'],
  ['a prototype key', JSON.parse('{"a":{"__proto__":{"x":1}}}'), 'a.__proto__'],
  ['a constructor key', { a: [{ constructor: 1 }] }, 'a.0.constructor'],
])('[WR-31] %s is found, with its path', (_, value, path) => {
  expect(findUnsafeJson(value).map((issue) => issue.path)).toEqual([path]);
});

test('[WR-31] nesting is allowed up to the bound and refused beyond it', () => {
  expect(findUnsafeJson(nested(maxJsonDepth))).toEqual([]);
  expect(findUnsafeJson(nested(maxJsonDepth + 1))).toHaveLength(1);
  expect(findUnsafeJson(nested(100_000))).toHaveLength(1);
});

test('[WR-31] text of any well-formed kind passes, pairs of surrogates among it', () => {
  expect(findUnsafeJson({ text: '😀 é \u202e \u200b \t\r\n' })).toEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(findUnsafeJson([text])).toEqual(text.includes('\0') ? expect.anything() : []);
    }),
  );
});

test('[WR-31] the list of faults is bounded', () => {
  expect(findUnsafeJson(Array.from({ length: 1000 }, () => '\0')).length).toBeLessThanOrEqual(20);
});
