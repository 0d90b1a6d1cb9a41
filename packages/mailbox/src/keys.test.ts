import { describe, expect, it } from 'vitest';
import { keyOf, keyTable, queuePrefix, teamsKey } from './keys.ts';

describe('keys', () => {
  it('[ST-1] share the hash tag of their team and begin with the class of their writer', () => {
    expect(keyOf('acme', 'request', 'worker', 'id@1')).toBe('placet:{acme}:m.worker:req:id@1');
    expect(keyOf('acme', 'decision', 'id')).toBe('placet:{acme}:lead:dec:id');
    expect(keyOf('acme', 'pending')).toBe('placet:{acme}:log:pending');
    expect(queuePrefix('acme', 'worker')).toBe('{placet-q:acme.worker}');
    expect(teamsKey).not.toContain('{');
  });

  it('[ST-1] are of a class that some user may be given, and each of its own name', () => {
    const patterns = Object.values(keyTable).map(({ pattern }) => pattern);
    for (const pattern of patterns)
      expect(pattern).toMatch(/^(m\.<teammate>|lead|log|poll):[a-z]+(:<[a-zA-Z]+>)?$/);
    expect(new Set(patterns).size).toBe(patterns.length);
  });

  it('[WR-2] take what an ID may hold as it is', () => {
    const id = '$&<requestId>{}"\\:%*';
    expect(keyOf('acme', 'request', 'worker', id)).toBe(`placet:{acme}:m.worker:req:${id}`);
  });
});
