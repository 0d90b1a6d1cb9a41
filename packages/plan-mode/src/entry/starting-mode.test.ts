import { environmentLayer, PermissionMode, resolveConfig } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { startingMode } from './starting-mode.ts';

const configured = (environment: Record<string, string>, file: Record<string, unknown> = {}) =>
  resolveConfig([environmentLayer(environment), { source: 'placet.config.json', values: file }]).config;

describe('the mode that a session starts in', () => {
  it('[PM-16] is not plan mode where nothing is set', () => {
    expect(startingMode(configured({}))).toBe('default');
  });

  it('[PM-16] is plan mode where the key or its variable says so', () => {
    expect(startingMode(configured({}, { planModeDefault: true }))).toBe('plan');
    expect(startingMode(configured({ PLACET_PLAN_MODE_DEFAULT: '1' }))).toBe('plan');
    expect(startingMode(configured({ PLACET_PLAN_MODE_DEFAULT: 'false' }, { planModeDefault: true }))).toBe(
      'default',
    );
  });

  it.each(PermissionMode.options)(
    '[PM-16] is %s where that is asked for, whatever the default',
    (requested) => {
      for (const planModeDefault of [true, false])
        expect(startingMode({ planModeDefault, planModeRequired: false, requested })).toBe(requested);
    },
  );

  it.each([undefined, ...PermissionMode.options])(
    '[PM-17] is plan mode where that is required, not %s',
    (requested) => {
      expect(startingMode({ planModeDefault: false, planModeRequired: true, requested })).toBe('plan');
    },
  );
});
