import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  differsFromPlan,
  type PlanStorage,
  readCanonicalPlan,
  type StoredPlan,
  storedPlan,
} from './plan-storage.ts';

function holding(plan: StoredPlan | undefined): PlanStorage {
  return { load: () => Promise.resolve(plan), save: (text) => Promise.resolve(storedPlan(text)) };
}

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

describe('the canonical plan', () => {
  const [one, two] = [storedPlan('one'), storedPlan('two')];

  it('[PM-42] is the cached one while the file has its digest', async () => {
    const cached = storedPlan('one');

    expect(await readCanonicalPlan({ cached, storage: holding(two), file: holding(one) })).toBe(cached);
  });

  it('[PM-42] is the stored one where the cache is stale', async () => {
    expect(await readCanonicalPlan({ cached: one, storage: holding(two), file: holding(two) })).toBe(two);
    expect(await readCanonicalPlan({ cached: one, storage: holding(two), file: holding(undefined) })).toBe(
      two,
    );
  });

  it('[PM-42] is the raw file where no storage has it', async () => {
    expect(await readCanonicalPlan({ storage: holding(undefined), file: holding(one) })).toBe(one);
    expect(await readCanonicalPlan({ file: holding(undefined) })).toBeUndefined();
  });

  it('[PM-42] is not what an argument says', () => {
    expect(differsFromPlan('one', one)).toBe(false);
    expect(differsFromPlan('one\n', one)).toBe(true);
    expect(differsFromPlan('one', undefined)).toBe(true);
  });
});
