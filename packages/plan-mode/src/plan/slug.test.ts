import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planFileName, slugOf } from './slug.ts';

const sessionIds = Array.from({ length: 2000 }, (_, at) => `session-${at}`);

describe('the slug of a session', () => {
  it('[PM-40] is three words in kebab case, the same each time', () => {
    for (const sessionId of sessionIds) expect(slugOf(sessionId)).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
    expect(slugOf('session-1')).toBe(slugOf('session-1'));
  });

  it('[PM-40] holds nothing of the session and uses every word', () => {
    const words = new Set(sessionIds.flatMap((sessionId) => slugOf(sessionId).split('-')));

    expect(slugOf('ada@example.org')).not.toMatch(/ada|example/);
    expect(words.size).toBe(192);
  });

  it('[PM-40] has other choices where it is taken', () => {
    expect(slugOf('session-1', 1)).not.toBe(slugOf('session-1'));
  });
});

describe('the name of a plan file', () => {
  const digested = planFileName('calm-oak-mill', 'A').slice('calm-oak-mill-agent-'.length, -'.md'.length);
  const hostile = [
    undefined,
    '',
    'a',
    'A',
    'b',
    '../a',
    'a/b',
    'a\\b',
    'a b',
    'ä',
    'a\u0308',
    'Ä',
    '.',
    '..',
    'a.',
    'a ',
    ' a',
    '.'.repeat(300),
    'a'.repeat(64),
    'a'.repeat(65),
    'a'.repeat(1_000_000),
    'a\0',
    '\0',
    'con',
    'CON',
    'nul.md',
    '\ud800',
    '\ud801',
    '\udc00',
    '\ufffd',
    'ı',
    'i',
    'I',
    'İ',
    'ſ',
    's',
    'K',
    'k',
    'a\n',
    '/etc/passwd',
    '~',
    '-',
    '--',
    '-rf',
    '$(id)',
    'a:b',
    '*',
    '?',
    digested,
    digested.toUpperCase(),
    'agent',
    'agent-a',
    'ada@example.org',
    '\u202egro',
    'a\u200b',
  ];

  it('[PM-40] is never shared by two agents of a session, also where case and forms of letters do not count', () => {
    const names = hostile.map((id) => planFileName('calm-oak-mill', id));
    const folded = names.map((name) => name.normalize('NFKC').toLowerCase().toUpperCase());

    expect(new Set(folded).size).toBe(hostile.length);
    expect(names.slice(0, 3)).toEqual([
      'calm-oak-mill.md',
      expect.stringMatching(/^calm-oak-mill-agent-[0-9a-f]{32}\.md$/),
      'calm-oak-mill-agent-a.md',
    ]);
  });

  it('[PM-40] is one plain name that any file system takes', () => {
    for (const id of hostile) {
      const name = planFileName('calm-oak-mill', id);
      expect(name).toMatch(/^[a-z0-9_-]+\.md$/);
      expect(name.length).toBeLessThan(120);
    }
  });

  it("[PM-40] is plain and nobody else's for any two IDs", () => {
    const id = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(...hostile.filter((one) => one !== undefined)),
    );
    fc.assert(
      fc.property(id, id, (one, other) => {
        const [first, second] = [planFileName('a-b-c', one), planFileName('a-b-c', other)];
        expect(first).toMatch(/^[a-z0-9_-]+\.md$/);
        expect(first === second).toBe(one === other);
      }),
      { numRuns: 1000 },
    );
  });

  it('[PM-40] of a session says nothing of its ID, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (sessionId) => {
        expect(slugOf(sessionId)).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
      }),
    );
  });
});
