import { PermissionMode } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type AvailableModes, nextMode } from './mode-cycle.ts';

function walk(available: AvailableModes): PermissionMode[] {
  const seen: PermissionMode[] = ['default'];
  for (let mode = nextMode('default', available); mode !== 'default'; mode = nextMode(mode, available))
    seen.push(mode);
  return seen;
}

describe('the cycle of modes', () => {
  it.each<[AvailableModes, PermissionMode[]]>([
    [{ bypass: false, auto: false }, ['default', 'acceptEdits', 'plan']],
    [{ bypass: true, auto: false }, ['default', 'acceptEdits', 'plan', 'bypassPermissions']],
    [{ bypass: false, auto: true }, ['default', 'acceptEdits', 'plan', 'auto']],
    [{ bypass: true, auto: true }, ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'auto']],
  ])('[PM-8] with %j is %j, and round again', (available, order) => {
    expect(walk(available)).toEqual(order);
  });

  it.each(PermissionMode.options)('[PM-8] goes on from %s without offering what is not there', (mode) => {
    expect(['default', 'acceptEdits', 'plan']).toContain(nextMode(mode, { bypass: false, auto: false }));
  });

  it('[PM-8] goes on with default from a mode that is not in it', () => {
    expect(nextMode('dontAsk', { bypass: true, auto: true })).toBe('default');
  });
});
