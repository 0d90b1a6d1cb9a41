import { expect, test } from 'vitest';
import { parseDurationMs } from './durations.ts';

test.each([
  ['0', 0],
  ['1500', 1500],
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
])('reads %s as %i ms', (text, ms) => {
  expect(parseDurationMs(text, '--timeout')).toBe(ms);
});

test.each(['', '-1', '30 s', 's', '1w', '1e3', 'NaN'])('refuses "%s", naming the flag', (text) => {
  expect(() => parseDurationMs(text, '--timeout')).toThrow(/^--timeout: /);
});
