import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('the lock file', () => {
  it('[OP-1] names no registry, so that any registry can serve it', () => {
    const lock = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');

    expect(lock).toContain('"lockfileVersion": 3');
    expect(lock).not.toMatch(/"resolved": "(?:https?|git)/);
  });
});
