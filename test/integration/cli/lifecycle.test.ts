import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import {
  ended,
  errorOf,
  jsonOf,
  placet,
  spawnPlacet,
  startUp,
  temporaryFolder,
} from '../../support/placet.ts';
import { processesOf } from '../../support/processes.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
});
// Each starts several services, one after the other.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

afterEach(async () => {
  for (const { pid } of processesOf(folder.path)) process.kill(pid, 'SIGKILL');
  await nothingLeft();
  folder.remove();
});

const run = (args: string[], input?: string) =>
  placet([...args, '--data', data], { cwd: folder.path, ...(input !== undefined && { input }) });
const start = (args: string[] = [], env: Record<string, string> = {}) =>
  startUp(data, args, { cwd: folder.path, env });
const nothingLeft = () =>
  eventually(() => processesOf(folder.path).length === 0, {
    withinMs: 20_000,
    everyMs: 100,
    what: `the end of ${JSON.stringify(processesOf(folder.path))}`,
  });
/** Whether somebody waits for a decision there, as the service counts it. */
const isAwaited = async (url: string) => {
  const metrics = await fetch(new URL('/metrics', url));
  return (await metrics.text()).includes('placet_open_streams{kind="wait"} 1');
};
const submit = async () => {
  const ran = await run(['submit', '-', '--json'], '# Plan\n');
  return z.object({ requestId: z.string() }).parse(jsonOf(ran)).requestId;
};

it.each(['SIGTERM', 'SIGINT'] as const)(
  '[WR-42] %s stops all that up started, and exits with 0',
  async (signal) => {
    const up = await start();
    const commands = processesOf(folder.path).map(({ command }) => command);
    expect(commands.some((command) => command.includes('redis-server'))).toBe(true);
    expect(commands.some((command) => command.includes('teammate --team main --name worker'))).toBe(true);
    // Twice, as a key press arrives through a terminal and npm.
    up.child.kill(signal);
    expect(await up.stop(signal)).toMatchObject({ code: 0 });
    expect(processesOf(folder.path)).toEqual([]);
    expect(existsSync(join(data, 'run.json'))).toBe(false);
  },
);

it('[WR-42, OP-10] after kill -9 of up neither Redis nor the teammate stays, and the next start goes on', async () => {
  const up = await start();
  const id = await submit();
  process.kill(up.pid, 'SIGKILL');
  await nothingLeft();
  const again = await start();
  expect(jsonOf(await run(['show', id, '--json']))).toMatchObject({ state: 'pending' });
  expect((await run(['approve', id])).code).toBe(0);
  expect(await again.stop()).toMatchObject({ code: 0 });
});

it('[WR-42] a teammate that is killed is started again', async () => {
  await start();
  const teammate = () =>
    processesOf(folder.path).find(({ command }) => command.includes('teammate --team'))?.pid;
  const first = await eventually(teammate);
  process.kill(first, 'SIGKILL');
  await eventually(() => teammate() !== first && teammate(), { withinMs: 20_000, everyMs: 100 });
});

it('[WR-40, WR-42] wait and watch outlive a restart of the service, elsewhere', async () => {
  const first = await start(['--no-teammate']);
  const id = await submit();
  const waiting = ended(
    spawnPlacet(['wait', id, '--timeout', '120s', '--json', '--data', data], { cwd: folder.path }),
  );
  const watching = spawnPlacet(['watch', '--after', '0-0', '--json', '--data', data], { cwd: folder.path });
  const watched = ended(watching);
  let seen = '';
  watching.stdout?.on('data', (chunk: string) => {
    seen += chunk;
  });
  await eventually(() => seen.includes('plan:proposed'), { withinMs: 20_000 });
  await eventually(() => isAwaited(first.ready.url), { withinMs: 20_000, everyMs: 100 });
  await first.stop();
  const second = await start(['--no-teammate']);
  expect(second.ready.url).not.toBe(first.ready.url);
  await run(['reject', id, '--feedback', 'no']);
  expect((await waiting).code).toBe(3);
  await eventually(() => seen.includes('plan:decided'), { withinMs: 20_000 });
  watching.kill('SIGINT');
  const { code, stdout } = await watched;
  expect(code).toBe(0);
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => jsonOf({ code, stdout: line, stderr: '' }).id);
  expect(ids).toEqual(['1-0', '2-0']);
  await second.stop();
});

it('[OP-6] up waits for a Redis of yours that is not there yet, and says so', async () => {
  const redis = await startOwnRedis();
  try {
    await redis.kill9();
    const starting = start(['--no-teammate'], { PLACET_REDIS_URL: redis.url });
    await eventually(() => existsSync(data), { withinMs: 20_000 });
    await redis.restart();
    const up = await starting;
    expect(up.ready.redisUrl).toBe(redis.url);
    expect((await run(['inbox'])).code).toBe(0);
    await redis.kill9();
    const away = await run(['inbox', '--json']);
    expect(errorOf(away)).toMatchObject({ code: 'store_unavailable', exitCode: 8 });
    await redis.restart();
    await eventually(async () => (await run(['inbox'])).code === 0, { withinMs: 20_000 });
    await up.stop();
  } finally {
    await redis.stop();
  }
});

it('[TM-14] up refuses a Redis that evicts, and says how to mend it', async () => {
  const redis: OwnRedis = await startOwnRedis(['--maxmemory-policy', 'allkeys-lru']);
  try {
    const ran = await placet(['up', '--json', '--data', data], {
      cwd: folder.path,
      env: { PLACET_REDIS_URL: redis.url },
    });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'redis_unsuitable' });
    expect(errorOf(ran).detail).toContain('noeviction');
  } finally {
    await redis.stop();
  }
});

it('[WR-42] a port that was asked for and is taken is a clear error', async () => {
  const up = await start(['--no-teammate']);
  const other = join(folder.path, 'other');
  const port = new URL(up.ready.url).port;
  const ran = await placet(['up', '--json', '--no-teammate', '--port', port, '--data', other], {
    cwd: folder.path,
  });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(errorOf(ran).detail).toContain(port);
  expect(processesOf(other)).toEqual([]);
});
