import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ManagedRedis, startManagedRedis } from '@placet/mailbox';
import { silentLog } from '@placet/protocol';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { inRepository } from '../../support/repository.ts';

let dataDir: string;
const closing: (() => unknown)[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'placet managed-'));
  closing.push(() => rmSync(dataDir, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const engine = { kind: 'program', program: '/usr/bin/env', version: '7' } as const;

async function start(patienceMs?: number): Promise<ManagedRedis> {
  const managed = await startManagedRedis({
    dataDir,
    engine: await realEngine(),
    log: silentLog,
    patienceMs,
  });
  closing.push(() => managed.close());
  return managed;
}

async function realEngine() {
  const { findRedisEngine } = await import('@placet/mailbox');
  return findRedisEngine({ path: process.env.PATH ?? '', engineDir: '', say: () => undefined });
}

function client(url: string, options = {}): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => 50, ...options });
  redis.on('error', () => undefined);
  closing.push(() => redis.disconnect());
  return redis;
}

const Said = z.union([
  z.object({ url: z.string(), pid: z.number(), adopted: z.boolean() }),
  z.object({ value: z.string() }),
]);

interface Starter {
  child: ChildProcess;
  values: string[];
  latest(): { url: string; pid: number; adopted: boolean } | undefined;
}

function starter(...task: string[]): Starter {
  const script = inRepository('test/support/redis-starter.ts');
  const child = spawn(
    process.execPath,
    ['--conditions', '@placet/source', '--import', 'tsx', script, dataDir, ...task],
    { stdio: ['pipe', 'pipe', 'inherit'], cwd: inRepository('test') },
  );
  const values: string[] = [];
  let latest: ReturnType<Starter['latest']>;
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
    const said = Said.parse(JSON.parse(line));
    if ('value' in said) values.push(said.value);
    else latest = said;
  });
  closing.push(() => child.kill('SIGKILL'));
  return { child, values, latest: () => latest };
}

/** Processes that serve the folder: Redis makes it its working directory. */
function servers(): number[] {
  const folder = join(dataDir, 'redis');
  if (!existsSync(folder)) return [];
  const dir = realpathSync(folder);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === dir;
      } catch {
        return false; // it ended while we looked, or is somebody else's
      }
    })
    .map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function groupOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2] ?? '';
}

async function kill9(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

// What is looked at in /proc, only Linux has.
describe.runIf(process.platform === 'linux')('the private Redis', () => {
  it('[OP-10] is append-only, evicts nothing, asks for its password, and is for this user alone', async () => {
    const managed = await start();
    const redis = client(managed.url);
    const settings = await redis.config(
      'GET',
      'appendonly',
      'appendfsync',
      'maxmemory-policy',
      'save',
      'dir',
    );
    expect(settings).toEqual(
      expect.arrayContaining([
        'appendonly',
        'yes',
        'appendfsync',
        'everysec',
        'maxmemory-policy',
        'noeviction',
      ]),
    );
    await redis.set('x', '1');
    const stranger = client(`redis://127.0.0.1:${new URL(managed.url).port}`, { enableReadyCheck: false });
    await expect(stranger.get('x')).rejects.toThrow('NOAUTH');

    const dir = join(dataDir, 'redis');
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(dir, name));
      expect({ name, open: mode & 0o077 }).toEqual({ name, open: 0 });
    }
    const commandLine = readFileSync(`/proc/${managed.pid}/cmdline`, 'utf8');
    expect(commandLine).not.toContain(new URL(managed.url).password);
  });

  it('[OP-10] is reached by its socket too', async () => {
    const managed = await start();
    const { connectRedis } = await import('@placet/mailbox');
    const handle = connectRedis({ url: managed.socketUrl, name: 'test' });
    closing.push(() => handle.close());
    await handle.ready();
    expect(managed.socketUrl).toMatch(/^unix:/);
    expect(await handle.redis.ping()).toBe('PONG');
  });

  it('[OP-10] is in a process group of its own', async () => {
    const managed = await start();
    expect(groupOf(managed.pid)).not.toBe(groupOf(process.pid));
  });

  it('keeps its data over a stop and a start, and leaves no process', async () => {
    const first = await start();
    await client(first.url).set('x', 'kept');
    await first.close();
    await first.close();
    expect(isAlive(first.pid)).toBe(false);
    expect(servers()).toEqual([]);
    const second = await start();
    expect(await client(second.url).get('x')).toBe('kept');
  });

  it('[OP-10] ends with its owner, also after kill -9', async () => {
    const owner = starter();
    const { pid } = await eventually(() => owner.latest(), { withinMs: 20_000 });
    expect(isAlive(pid)).toBe(true);
    await kill9(owner.child);
    await eventually(() => !isAlive(pid));
  });

  it('[OP-10] does not outlive its guard', async () => {
    const managed = await start();
    const [, guard = ''] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${managed.pid}/status`, 'utf8')) ?? [];
    const { pid } = managed;
    process.kill(Number(guard), 'SIGKILL');
    await eventually(() => !isAlive(pid));
  });

  it('[OP-6] is started again on the same address when it dies, with what it had acknowledged', async () => {
    const managed = await start();
    const { url, pid } = managed;
    await client(url).set('x', 'kept');
    process.kill(pid, 'SIGKILL');
    await eventually(() => managed.pid !== pid && isAlive(managed.pid));
    expect(managed.url).toBe(url);
    expect(await client(url).get('x')).toBe('kept');
  });

  it('[OP-10] a second start uses the live server and does not end it', async () => {
    const owner = starter();
    const { pid, url } = await eventually(() => owner.latest(), { withinMs: 20_000 });
    const guest = await start();
    expect(guest).toMatchObject({ adopted: true, pid, url });
    await guest.close();
    expect(isAlive(pid)).toBe(true);
  });

  it('[OP-10] a guest starts a server when the owner is killed', async () => {
    const owner = starter();
    const { pid } = await eventually(() => owner.latest(), { withinMs: 20_000 });
    const guest = await start();
    await client(guest.url).set('x', 'kept');
    await kill9(owner.child);
    await eventually(() => !guest.adopted && guest.pid !== pid && isAlive(guest.pid));
    expect(servers()).toEqual([guest.pid]);
    expect(await client(guest.url).get('x')).toBe('kept');
  });

  it('[OP-10] takes care of a server that was left over', async () => {
    const first = await start();
    const dir = join(dataDir, 'redis');
    const [state, config] = ['run.json', 'redis.conf'].map((name) => readFileSync(join(dir, name), 'utf8'));
    await first.close();
    writeFileSync(join(dir, 'redis.conf'), config ?? '', { mode: 0o600 });
    const left = spawn('redis-server', [join(dir, 'redis.conf')], { stdio: 'ignore' });
    closing.push(() => left.kill('SIGKILL'));
    const stat = readFileSync(`/proc/${left.pid}/stat`, 'utf8');
    writeFileSync(join(dir, 'server-left'), `${left.pid}\n${stat}`);
    const start22 = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const told = { ...JSON.parse(state ?? ''), pid: left.pid, start: start22 };
    writeFileSync(join(dir, 'run.json'), JSON.stringify(told), { mode: 0o600 });

    const managed = await start();
    expect(managed).toMatchObject({ pid: left.pid, adopted: false });
    await managed.close();
    expect(isAlive(left.pid ?? 0)).toBe(false);
  });

  it('[OP-10] refuses a folder that a live process holds without a server', async () => {
    const managed = await start();
    await managed.close();
    const holder = spawn('sleep', ['60']);
    closing.push(() => holder.kill('SIGKILL'));
    const stat = await eventually(
      () =>
        readFileSync(`/proc/${holder.pid}/stat`, 'utf8').includes('(sleep)') &&
        readFileSync(`/proc/${holder.pid}/stat`, 'utf8'),
    );
    const start22 = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    writeFileSync(join(dataDir, 'redis', 'claim-x'), JSON.stringify({ pid: holder.pid, start: start22 }));
    await expect(start(200)).rejects.toMatchObject({ code: 'data_in_use' });
    await kill9(holder);
    await expect(start(200)).resolves.toMatchObject({ adopted: false });
  });

  it('[OP-10] says what the engine said when it does not start', async () => {
    const broken = startManagedRedis({ dataDir, engine, log: silentLog });
    await expect(broken).rejects.toMatchObject({ code: 'redis_unsuitable' });
  });

  it('[OP-10] ten starters and a killed owner: never two servers, and no acknowledged write is lost', async () => {
    const starters = Array.from({ length: 10 }, (_, n) => starter('write', `w${n}`));
    let most = 0;
    const stop = new AbortController();
    const sampling = (async () => {
      while (!stop.signal.aborted) {
        most = Math.max(most, servers().length);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await eventually(() => starters.every(({ values }) => values.length > 0), { withinMs: 40_000 });

    const living = new Set(starters);
    for (let kills = 0; kills < 4; kills += 1) {
      const owner = await eventually(() => [...living].find((one) => one.latest()?.adopted === false));
      living.delete(owner);
      const before = new Map([...living].map((one) => [one, one.values.length]));
      await kill9(owner.child);
      await eventually(() => [...living].every((one) => one.values.length > (before.get(one) ?? 0) + 20), {
        withinMs: 20_000,
      });
    }
    for (const { child } of living) child.kill('SIGTERM');
    await eventually(() => [...living].every(({ child }) => child.exitCode !== null), { withinMs: 30_000 });
    stop.abort();
    await sampling;
    expect(most).toBe(1);
    expect(servers()).toEqual([]);

    const managed = await start();
    const kept = new Set(await client(managed.url).smembers('values'));
    const acknowledged = starters.flatMap(({ values }) => values);
    expect(acknowledged.length).toBeGreaterThan(500);
    expect(acknowledged.filter((value) => !kept.has(value))).toEqual([]);
  }, 120_000);
});
