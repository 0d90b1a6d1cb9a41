import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalOf, toolErrorOf } from './refusal.ts';

const refused = (tool: string) => refusalOf({ tool, sessionId: 's', reason: 'not_plan_safe' });

describe('a refusal', () => {
  it('[PM-28] reaches the model as the error of its tool', () => {
    const refusal = refused('Write');
    const { isError, content } = toolErrorOf(refusal);

    expect(isError).toBe(true);
    expect(content.map(({ type }) => type)).toEqual(['text']);
    expect(JSON.parse(content[0].text)).toEqual(refusal);
  });

  it('[PM-28] has these fields and no others', () => {
    expect(Object.keys(refused('Write'))).toEqual([
      'error_code',
      'tool',
      'session_id',
      'reason',
      'fixable_by_llm',
      'hint',
    ]);
  });

  it.each([
    ['mcp__docs__read', 'mcp__docs__read'],
    ['a\u001b[2Jb', 'a⟨U+001B⟩[2Jb'],
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['a\ud800b', 'a⟨U+D800⟩b'],
    ['über tool', 'über tool'],
  ])('[PM-28] shows the name %j as %j', (tool, shown) => {
    expect(refused(tool).tool).toBe(shown);
  });

  it('[PM-28] never shows more than 256 characters of a name, nor one that nobody sees', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 600 }), (tool) => {
        const shown = refused(tool).tool;
        expect(shown.length).toBeLessThanOrEqual(256);
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
    expect(refused('x'.repeat(1e7)).tool).toBe('x'.repeat(256));
  });
});
