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
  it('[PM-40] is never shared by two agents of a session', () => {
    const ids = [undefined, 'a', 'b', '../a', 'a/b', 'a b', 'ä', '.'.repeat(300), ''];
    const names = ids.map((id) => planFileName('calm-oak-mill', id));

    expect(new Set(names).size).toBe(ids.length);
    expect(names.slice(0, 2)).toEqual(['calm-oak-mill.md', 'calm-oak-mill-agent-a.md']);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]+\.md$/);
  });
});
