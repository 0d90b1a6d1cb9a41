import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDuplicateKeys } from './json-text.ts';

describe('keys that stand twice', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":1,"c":[0,{"d":1,"\\u0064":2}]}}', 'a.c.1.d'],
    ['[{"x":"}","x":1}]', '0.x'],
    ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
    ['{"":1,"":2}', ''],
  ])('[WR-31] finds the path in %s', (text, path) => {
    expect(findDuplicateKeys(text).map((issue) => issue.path)).toEqual([path]);
  });

  it.each([
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[["a","a"],"a"]',
    '{"a":"\\\\","b":"\\"a\\":"}',
    '"a"',
    '1',
  ])('[WR-31] takes %s', (text) => {
    expect(findDuplicateKeys(text)).toEqual([]);
  });

  it('[WR-31] takes every value that JSON can write', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(findDuplicateKeys(text)).toEqual([]);
      }),
    );
  });

  it('[WR-31] lists no more than twenty', () => {
    const text = `{${Array.from({ length: 50 }, () => '"a":1').join(',')}}`;
    expect(findDuplicateKeys(text)).toHaveLength(20);
  });
});
