import { expect, test } from 'vitest';
import { exceeds, GrantedMode, lowestCeiling, resolveGrantedMode } from './permission-mode.ts';

test('[TM-30] the order of modes is default < dontAsk = acceptEdits < auto < bypassPermissions', () => {
  const steps = [['default'], ['dontAsk', 'acceptEdits'], ['auto'], ['bypassPermissions']] as const;
  for (const [low, lower] of steps.entries())
    for (const [high, higher] of steps.entries())
      for (const mode of higher) for (const ceiling of lower) expect(exceeds(mode, ceiling)).toBe(high > low);
});

test('[TM-30] the lower of two ceilings holds, and none is none', () => {
  expect(lowestCeiling('auto', 'acceptEdits')).toBe('acceptEdits');
  expect(lowestCeiling(undefined, 'default')).toBe('default');
  expect(lowestCeiling(undefined, undefined)).toBe('bypassPermissions');
});

test.each([
  { granted: 'acceptEdits', prePlanMode: 'auto', leadMode: 'bypassPermissions', mode: 'acceptEdits' },
  { granted: 'restore', prePlanMode: 'bypassPermissions', leadMode: 'default', mode: 'bypassPermissions' },
  { granted: 'restore', prePlanMode: 'plan', leadMode: 'auto', mode: 'default' },
  { granted: undefined, prePlanMode: 'auto', leadMode: 'acceptEdits', mode: 'acceptEdits' },
  { granted: undefined, prePlanMode: 'auto', leadMode: 'plan', mode: 'default' },
  { granted: undefined, prePlanMode: 'auto', leadMode: undefined, mode: 'default' },
] as const)(
  '[TM-30] granting $granted from $prePlanMode with a lead in $leadMode grants $mode',
  ({ mode, ...granting }) => {
    expect(resolveGrantedMode(granting)).toBe(mode);
  },
);

test('[TM-30] plan cannot be granted', () => {
  expect(GrantedMode.safeParse('plan').success).toBe(false);
});
