import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfInstructions, maxInstructionsChars, quoteInstructions } from './custom-instructions.ts';

describe('custom instructions on a command line', () => {
  it('[PM-54] are taken for a headless run', () => {
    expect(faultOfInstructions({ interactive: false, instructions: 'Plan in two steps.' })).toBeUndefined();
  });

  it.each(['Plan in two steps.', '', ' '])(
    '[PM-54] are a usage error in an interactive run: %j',
    (instructions) => {
      expect(faultOfInstructions({ interactive: true, instructions })).toEqual({
        code: 'usage',
        detail: expect.stringContaining('headless runs only'),
      });
    },
  );

  it('[PM-54] that are not there are no fault', () => {
    for (const interactive of [true, false])
      expect(faultOfInstructions({ interactive, instructions: undefined })).toBeUndefined();
  });

  it.each([
    ['too many', 'x'.repeat(maxInstructionsChars + 1), 'payload_too_large'],
    ['with NUL', 'a\0b', 'validation_failed'],
    ['with a lone surrogate', 'a\udc00', 'validation_failed'],
  ])('[PM-54] are refused headless too: %s', (_what, instructions, code) => {
    expect(faultOfInstructions({ interactive: false, instructions })?.code).toBe(code);
  });
});

describe('quoted instructions', () => {
  it.each(['\n', '\r', '\r\n', '\v', '\f', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029'])(
    '[PM-53] are marked after the end of line %j',
    (end) => {
      expect(quoteInstructions(`one${end}two`)).toBe('| one\n| two');
    },
  );

  it('[PM-53] begin each line with the mark, whatever is in them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const line of quoteInstructions(text).split(/[\n\r\u2028\u2029]/)) expect(line).toMatch(/^\|/);
      }),
    );
  });
});
