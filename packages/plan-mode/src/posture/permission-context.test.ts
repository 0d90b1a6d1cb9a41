import { PermissionContext, PermissionMode, WorkingMode } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { contextOf, enterPlan, leavePlan, withoutAuto } from './permission-context.ts';

describe('the permission context', () => {
  it.each(PermissionMode.options)(
    '[PM-1] stands in mode %s, and only planning has a mode to go back to',
    (mode) => {
      const context = contextOf(mode);

      expect(context.mode).toBe(mode);
      expect('prePlanMode' in context).toBe(mode === 'plan');
      expect(PermissionContext.parse(context)).toEqual(context);
    },
  );

  it.each([
    { mode: 'plan' },
    { mode: 'default', prePlanMode: 'auto' },
    { mode: 'plan', prePlanMode: 'plan' },
    { mode: 'yolo' },
  ])('[PM-1] is not what %j says', (value) => {
    expect(PermissionContext.safeParse(value).success).toBe(false);
  });

  it.each(WorkingMode.options)('[PM-3] entered from %s remembers it', (mode) => {
    expect(enterPlan({ mode })).toEqual({ mode: 'plan', prePlanMode: mode });
  });

  it('[PM-3] entered again does not overwrite what it remembers', () => {
    const planning = enterPlan({ mode: 'auto' });

    expect(enterPlan(planning)).toEqual({ mode: 'plan', prePlanMode: 'auto' });
  });

  it('[PM-3] started in plan mode goes back to default', () => {
    expect(contextOf('plan')).toEqual({ mode: 'plan', prePlanMode: 'default' });
  });

  it.each(WorkingMode.options)('[PM-4] restores %s and forgets it', (mode) => {
    expect(leavePlan(enterPlan({ mode }), 'restore')).toEqual({ mode });
  });

  it('[PM-4] left into a granted mode forgets the one from before', () => {
    expect(leavePlan(enterPlan({ mode: 'bypassPermissions' }), 'acceptEdits')).toEqual({
      mode: 'acceptEdits',
    });
  });

  it('stays as it is where there is no plan mode to leave', () => {
    expect(leavePlan({ mode: 'default' }, 'bypassPermissions')).toEqual({ mode: 'default' });
  });

  it.each(PermissionMode.options)(
    '[PM-7] from %s has neither auto nor a way back to it behind a closed gate',
    (mode) => {
      const context = contextOf(mode);

      expect(withoutAuto(context)).toEqual(mode === 'auto' ? { mode: 'default' } : context);
      if (mode !== 'plan')
        expect(withoutAuto(enterPlan(context))).toEqual({
          mode: 'plan',
          prePlanMode: mode === 'auto' ? 'default' : mode,
        });
    },
  );
});
