import { isPlacetError, type Role, type TokenClaims } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { accessTable, checkAccess, inboxOf, isOpen } from './access-table.ts';

describe('who may call what', () => {
  it('[IN-20] another team does not exist, whatever the role', () => {
    for (const role of ['lead', 'teammate', 'observer', 'operator', 'poller'] as const)
      expect(codeOf(() => checkAccess(accessTable.listRequests, principal(role), { team: 'other' }))).toBe(
        'not_found',
      );
  });

  it('[TM-10] a teammate may not decide, and a role that is not in the row is forbidden', () => {
    const { decideRequest } = accessTable;
    for (const role of ['teammate', 'observer', 'operator', 'poller'] as const)
      expect(codeOf(() => checkAccess(decideRequest, principal(role), { team: 'main' }))).toBe('forbidden');
    expect(codeOf(() => checkAccess(decideRequest, principal('lead'), { team: 'main' }))).toBeUndefined();
  });

  it('[PM-13] an agent may have a session plan, and never has one leave plan mode', () => {
    const agent: TokenClaims = { ...principal('lead'), kind: 'agent' };
    const { enterPlanMode, exitPlanMode } = accessTable;
    expect(codeOf(() => checkAccess(enterPlanMode, agent, { team: 'main' }))).toBeUndefined();
    expect(codeOf(() => checkAccess(exitPlanMode, agent, { team: 'main' }))).toBe('forbidden');
    expect(codeOf(() => checkAccess(exitPlanMode, principal('lead'), { team: 'main' }))).toBeUndefined();
  });

  it('[IN-20] an inbox is read by its owner only', () => {
    const read = (role: Role, agent: string) =>
      codeOf(() => checkAccess(accessTable.readInbox, principal(role), { team: 'main', agent }));
    expect(read('teammate', 'worker')).toBeUndefined();
    expect(read('teammate', 'team-lead')).toBe('forbidden');
    expect(read('teammate', 'other')).toBe('forbidden');
    expect(read('lead', 'team-lead')).toBeUndefined();
    expect(read('lead', 'worker')).toBe('forbidden');
    expect(inboxOf(principal('observer'))).toBeUndefined();
  });

  it('[IN-20] metrics are open only where the setting says so', () => {
    expect(isOpen(accessTable.metrics, true)).toBe(true);
    expect(isOpen(accessTable.metrics, false)).toBe(false);
    expect(isOpen(accessTable.listRequests, true)).toBe(false);
    expect(isOpen(accessTable.healthz, false)).toBe(true);
  });
});

function principal(role: Role): TokenClaims {
  return {
    v: 1,
    iss: 'placet',
    sub: `test:${role}`,
    jti: 'j',
    iat: 0,
    exp: 1,
    role,
    teams: ['main'],
    kind: 'person',
    ...(role === 'teammate' && { teammate: 'worker', owner: 'test:owner', ownerProof: 'p' }),
  };
}

function codeOf(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return isPlacetError(error) ? error.code : String(error);
  }
}
