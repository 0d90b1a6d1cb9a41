import { commands, flagName } from '@placet/cli';
import { environmentLayer, resolveConfig } from '@placet/protocol';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { committedFiles, textOf } from '../support/repository.ts';

const Service = z.looseObject({
  image: z.string().optional(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  healthcheck: z.looseObject({ test: z.array(z.string()) }),
});
const Compose = z.looseObject({ services: z.record(z.string(), Service) });

const { services } = Compose.parse(parse(textOf('docker-compose.yml'), { merge: true }));
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

it('[OP-3] has Redis, a lead and two teammates, each with a health check', () => {
  expect(Object.keys(services)).toEqual(['redis', 'lead', 'worker-1', 'worker-2']);
});

it('[OP-3] runs a Redis that is append-only and evicts nothing', () => {
  const command = services.redis?.command.join(' ');
  expect(command).toContain('--appendonly yes');
  expect(command).toContain('--maxmemory-policy noeviction');
});

it.each(ours)('[OP-3] %s runs a command that exists, with flags that it has', (_name, { command, build }) => {
  const [name, ...rest] = command;
  const spec = commands.find((candidate) => candidate.name === name);
  expect(spec?.name).toBe(name);
  const known = [
    ...(spec?.settings ?? []).map((setting) => spec?.flags[setting] ?? flagName(setting)),
    ...(spec?.options ?? []).map(({ flags }) => flags.split(' ')[0]),
  ];
  for (const flag of rest.filter((part) => part.startsWith('--'))) expect(known).toContain(flag);
  expect(committedFiles()).toContain(build?.dockerfile);
});

it.each(ours)('[OP-3] %s is given settings that exist', (_name, { environment }) => {
  const filled = Object.entries(environment).map(([name, value]) => [
    name,
    value.startsWith('$') ? '' : value.replace(/\$\{[^}]*\}/g, 'x'),
  ]);
  expect(() => resolveConfig([environmentLayer(Object.fromEntries(filled))])).not.toThrow();
});
