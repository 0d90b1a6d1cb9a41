import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentName, newRequestId, parseNativeRequestId, RequestId, TeammateName, TeamName } from './ids.ts';

describe('names', () => {
  test.each(['a', '0', 'team-1', 'a.b_c-d', 'x'.repeat(64)])(
    '[WR-1] %s names a team and a teammate',
    (name) => {
      expect(TeamName.safeParse(name).success).toBe(true);
      expect(TeammateName.safeParse(name).success).toBe(true);
    },
  );

  test.each(['', '-a', '.a', '_a', 'A', 'a b', 'a/b', 'ä', 'a\n', 'x'.repeat(65), '{a}', 'a:b'])(
    '[WR-1] %j names neither',
    (name) => {
      expect(TeamName.safeParse(name).success).toBe(false);
      expect(TeammateName.safeParse(name).success).toBe(false);
    },
  );

  test("[WR-1] team-lead is an inbox but no teammate's name", () => {
    expect(TeammateName.safeParse('team-lead').success).toBe(false);
    expect(AgentName.safeParse('team-lead').success).toBe(true);
  });
});

describe('request IDs', () => {
  test('[WR-2] a new one says who made it, for which team, and when', () => {
    const before = Date.now();
    const native = parseNativeRequestId(newRequestId('worker', 'alpha'));
    expect(native).toMatchObject({ teammate: 'worker', team: 'alpha' });
    expect(native?.madeAtMs).toBeGreaterThanOrEqual(before);
    expect(native?.madeAtMs).toBeLessThanOrEqual(Date.now());
  });

  test('[WR-2] the longest names make an ID that is still one', () => {
    const name = 'n'.repeat(64);
    expect(RequestId.safeParse(newRequestId(name, name)).success).toBe(true);
  });

  test.each([
    'x',
    '~',
    'plan_approval-1796071105890@worker@alpha',
    'a/b?c#d%e',
    '..x',
    '...',
    'z'.repeat(256),
  ])('[WR-2] %s is taken from a foreign client and is not native', (id) => {
    expect(RequestId.safeParse(id).success).toBe(true);
    expect(parseNativeRequestId(id)).toBeUndefined();
  });

  test.each(['', '.', '..', 'a b', 'a\tb', 'a\nb', 'a\n', 'é', '\u007f', '\0', 'z'.repeat(257)])(
    '[WR-2] %j is refused',
    (id) => {
      expect(RequestId.safeParse(id).success).toBe(false);
    },
  );

  test('[WR-2] what is printable ASCII without white space, and only that, is taken', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 256 }), (id) => {
        const fits = /^[!-~]+$/.test(id) && id !== '.' && id !== '..';
        expect(RequestId.safeParse(id).success).toBe(fits);
      }),
    );
  });
});
