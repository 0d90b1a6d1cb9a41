import { expect, test } from 'vitest';
import { type ConfigLayer, environmentLayer, environmentName, resolveConfig } from './config.ts';

const layer = (source: string, values: Record<string, unknown>): ConfigLayer => ({ source, values });

test('[WR-41] the first layer that sets a key wins, and the source is told', () => {
  const { config, sources } = resolveConfig([
    layer('--port', { port: 1 }),
    layer('environment', { port: '2', team: 'a' }),
    layer('file', { team: 'b' }),
  ]);
  expect(config.port).toBe(1);
  expect(config.team).toBe('a');
  expect(sources).toMatchObject({ port: '--port', team: 'environment', host: 'default' });
});

test('[WR-41, ST-8, OP-4] a Redis is one server, a Cluster, or what Sentinels name', () => {
  const resolve = (redisUrl: string) => resolveConfig([layer('environment', { redisUrl })]).config.redisUrl;
  for (const scheme of ['redis', 'rediss', 'unix', 'redis+cluster', 'rediss+cluster', 'redis+sentinel'])
    expect(resolve(`${scheme}://a`)).toBe(`${scheme}://a`);
  for (const scheme of ['http', 'redis+other', 'unix+cluster'])
    expect(() => resolve(`${scheme}://a`)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
});

test('[TM-46] [WR-41] no layer makes durability less than another one asks for', () => {
  const { config } = resolveConfig([
    { source: 'flag', values: { durability: 'standard', replicas: 1 } },
    { source: 'file', values: { durability: 'strict', replicas: 2 } },
  ]);

  expect(config).toMatchObject({ durability: 'strict', replicas: 2 });
  expect(resolveConfig([]).config).toMatchObject({ durability: 'standard', replicas: 0 });
});

test('[WR-41] for a key that restricts, the strictest of all layers wins', () => {
  const layers = [
    layer('flags', { planModeRequired: false, permissionCeiling: 'bypassPermissions', maxRevisions: 50 }),
    layer('environment', { planModeRequired: '1' }),
    layer('file', { permissionCeiling: 'acceptEdits', maxRevisions: 3 }),
  ];
  const { config, sources } = resolveConfig(layers);
  expect(config).toMatchObject({ planModeRequired: true, permissionCeiling: 'acceptEdits', maxRevisions: 3 });
  expect(sources).toMatchObject({
    planModeRequired: 'environment',
    permissionCeiling: 'file',
    maxRevisions: 'file',
  });
});

test.each([
  [[], true],
  [[{ useAutoModeDuringPlan: true }, {}], true],
  [[{ useAutoModeDuringPlan: true }, { useAutoModeDuringPlan: 'false' }], false],
  [[{ useAutoModeDuringPlan: false }, { useAutoModeDuringPlan: '1' }], false],
])('[PM-6, WR-41] auto semantics while planning are off where any layer says so: %j', (given, inEffect) => {
  const { config } = resolveConfig(given.map((values, at) => layer(`layer ${at}`, values)));
  expect(config.useAutoModeDuringPlan).toBe(inEffect);
});

test('[PM-75] a new context after an approval is not offered unless the setting says so', () => {
  expect(resolveConfig([]).config.showClearContextOnPlanAccept).toBe(false);
});

test.each([
  ['an unknown key', { prot: 1 }, /placet\.config\.json: there is no setting "prot"/],
  ['a bad value', { port: 'x' }, /placet\.config\.json: the setting "port" is not valid/],
  [
    'a fault deep inside',
    { agents: { codemod: { command: [] } } },
    /"agents\.codemod\.command" is not valid/,
  ],
])('[WR-41] %s is an error that names the setting and its source', (_, values, message) => {
  expect(() => resolveConfig([layer('placet.config.json', values)])).toThrow(message);
});

test('[WR-41] the environment sets by PLACET_ names, and empty variables set nothing', () => {
  expect(environmentName('maxRevisions')).toBe('PLACET_MAX_REVISIONS');
  const values = environmentLayer({
    PLACET_MAX_REVISIONS: '4',
    PLACET_DATA: '/d',
    PLACET_TEAM: '',
    HOME: '/h',
  }).values;
  expect(values).toEqual({ maxRevisions: '4', dataDir: '/d' });
  expect(resolveConfig([layer('environment', values)]).config.maxRevisions).toBe(4);
});

test('[WR-41] a variable is named in the sources and in errors, and an unknown one is an error', () => {
  const resolve = (environment: Record<string, string>) => resolveConfig([environmentLayer(environment)]);
  expect(resolve({ PLACET_PORT: '0', PLACET_DATA: '/d' }).sources).toMatchObject({
    port: 'PLACET_PORT',
    dataDir: 'PLACET_DATA',
    host: 'default',
  });
  expect(() => resolve({ PLACET_PORT: 'x' })).toThrow(/^PLACET_PORT: the setting "port" is not valid/);
  expect(() => resolve({ PLACET_PROT: '1' })).toThrow(/there is no setting "PLACET_PROT"/);
  expect(() => resolve({ PLACET_AGENTS: '{}' })).toThrow(/there is no setting "PLACET_AGENTS"/);
});

test('[WR-41] what an agent or a test is given in the environment is no setting', () => {
  const given = { PLACET_PHASE: 'plan', PLACET_PLAN_FILE: '/p', PLACET_TEST_REDIS_URL: 'redis://x' };
  expect(environmentLayer(given).values).toEqual({});
});
