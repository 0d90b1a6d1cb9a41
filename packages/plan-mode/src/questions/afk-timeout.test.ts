import { resolveConfig } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type AfkConditions, type AskUserQuestionTimeout, afkTimeoutMs } from './afk-timeout.ts';

const present: AfkConditions = {
  timeout: '60s',
  interactive: true,
  foreground: true,
  screenReader: false,
  otherRacer: false,
};

describe('being away from the keyboard', () => {
  it('[PM-65] is never, unless the operator has set a timeout', () => {
    const { config } = resolveConfig([]);
    const of = (timeout: AskUserQuestionTimeout) => afkTimeoutMs({ ...present, timeout });

    expect(config.askUserQuestionTimeout).toBe('never');
    expect([of('never'), of('60s'), of('5m'), of('10m')]).toEqual([undefined, 60_000, 300_000, 600_000]);
    expect(() => resolveConfig([{ source: 'file', values: { askUserQuestionTimeout: '1s' } }])).toThrow(
      'askUserQuestionTimeout',
    );
  });

  it('[PM-65] is only where a person is at a session that is shown, without a screen reader or another racer', () => {
    for (const interactive of [true, false])
      for (const foreground of [true, false])
        for (const screenReader of [true, false])
          for (const otherRacer of [true, false]) {
            const isFit = interactive && foreground && !screenReader && !otherRacer;
            const ms = afkTimeoutMs({ timeout: '5m', interactive, foreground, screenReader, otherRacer });
            expect(ms).toBe(isFit ? 300_000 : undefined);
          }
  });
});
