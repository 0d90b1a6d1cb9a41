import { createHash } from 'node:crypto';
import { maxPlanBytes } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { faultOfPlanText, storedPlan } from './plan-storage.ts';

describe('the digest of a plan', () => {
  it.each(['plain', '\ufeffwith a mark', 'a\r\nb', 'e\u0301', '\u00e9', ' ', ''])(
    '[PM-44] is of the bytes of %j',
    (text) => {
      const expected = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

      expect(storedPlan(text).digest).toBe(expected);
    },
  );

  it('[PM-44] tells apart what looks the same', () => {
    expect(storedPlan('e\u0301').digest).not.toBe(storedPlan('\u00e9').digest);
    expect(storedPlan('a\n').digest).not.toBe(storedPlan('a').digest);
  });
});

describe('the text of a plan', () => {
  it.each([
    ['beyond 1 MiB', 'x'.repeat(maxPlanBytes + 1), 'payload_too_large'],
    ['beyond 1 MiB in bytes only', 'ä'.repeat(maxPlanBytes / 2 + 1), 'payload_too_large'],
    ['with a NUL character', 'a\0b', 'validation_failed'],
    ['with a lone surrogate', 'a\ud800', 'validation_failed'],
  ])('[PM-43] is refused %s', (_what, text, code) => {
    expect(faultOfPlanText(storedPlan(text))).toMatchObject({ code });
  });

  it('[PM-43] may have exactly 1 MiB', () => {
    expect(faultOfPlanText(storedPlan('x'.repeat(maxPlanBytes)))).toBeUndefined();
  });
});
