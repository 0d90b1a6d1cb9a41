import { ModeCause, PermissionMode, PlanModeEvent } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { announcementOf } from './announcement.ts';

const changes = ModeCause.options.flatMap((cause) =>
  PermissionMode.options.flatMap((mode) =>
    PermissionMode.options.map((previousMode) => ({ cause, mode, previousMode })),
  ),
);

describe('the announcement of a change of mode', () => {
  it('[PM-19] is one short sentence for every change there can be, and speakable', () => {
    for (const change of changes) {
      const text = announcementOf(change);

      expect(text, JSON.stringify(change)).toMatch(/^[A-Z][A-Za-z' ,;:-]+\.$/);
      expect(PlanModeEvent.shape.announcement.safeParse(text).success).toBe(true);
    }
  });

  it('[PM-19] says which mode holds now', () => {
    const spoken = new Map(
      PermissionMode.options.map((mode) => [
        mode,
        announcementOf({ cause: 'started', mode, previousMode: mode }).match(/\S+ mode/)?.[0] ?? '',
      ]),
    );
    expect(new Set(spoken.values()).size).toBe(PermissionMode.options.length);

    for (const change of changes) expect(announcementOf(change)).toContain(spoken.get(change.mode));
  });

  it('[PM-19] says while planning that nothing is changed, and of nothing else that a plan was approved', () => {
    for (const change of changes) {
      const text = announcementOf(change);

      expect(text.includes('nothing is changed before a plan is approved')).toBe(change.mode === 'plan');
      expect(/plan was approved/.test(text)).toBe(change.cause === 'approved' && change.mode !== 'plan');
    }
  });

  it('[PM-15] of an approval promises no more than the mode', () => {
    expect(announcementOf({ cause: 'approved', mode: 'acceptEdits', previousMode: 'plan' })).toBe(
      'The plan was approved, and the session is now in accept-edits mode; each call is judged as ever.',
    );
  });

  it.each(['exited', 'plan_abandoned'] as const)('[PM-8] of %s says that no plan was approved', (cause) => {
    expect(announcementOf({ cause, mode: 'default', previousMode: 'plan' })).toContain(
      'without an approved plan',
    );
  });
});
