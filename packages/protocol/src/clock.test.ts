import { expect, test } from 'vitest';
import { fromTimestamp, Timestamp, toTimestamp } from './clock.ts';

test('[WR-3] a time is written in UTC with milliseconds and read back the same', () => {
  expect(toTimestamp(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(fromTimestamp(toTimestamp(1_796_071_105_890))).toBe(1_796_071_105_890);
});

test.each([
  '2026-11-30T20:38:25Z',
  '2026-11-30T20:38:25.890+00:00',
  '2026-11-30 20:38:25.890Z',
  '2026-13-30T20:38:25.890Z',
  '1796071105890',
  '',
])('[WR-3] %j is no time of ours', (text) => {
  expect(Timestamp.safeParse(text).success).toBe(false);
});
