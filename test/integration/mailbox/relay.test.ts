import {
  connectRedis,
  keyOf,
  OutboxRelay,
  queueName,
  queuePrefix,
  type RedisHandle,
  TaskQueues,
  Teams,
} from '@placet/mailbox';
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis, uniqueTeam } from '../../support/redis-server.ts';

let server: OwnRedis;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startOwnRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

async function connect(): Promise<RedisHandle> {
  const handle = connectRedis({ url: server.url, name: 'test' });
  closing.push(() => handle.close());
  await handle.ready();
  return handle;
}

async function relayOn(handle: RedisHandle, claimAfterMs = 5000) {
  const [teams, queues] = [new Teams(handle), new TaskQueues(handle)];
  const relay = new OutboxRelay({ handle, queues, teams, claimAfterMs });
  relay.start();
  closing.push(() => queues.close());
  closing.push(() => relay.close());
  return { relay, queues, teams };
}

/** Writes wake-ups as the step that ends a request does. */
async function writeOutbox(
  handle: RedisHandle,
  team: string,
  session: string,
  from: number,
  to = from,
  known = '1',
) {
  for (let wake = from; wake <= to; wake += 1) {
    const n = await handle.redis.hincrby(keyOf(team, 'sequence'), 'outbox', 1);
    const fields = ['t', 'worker', 's', session, 'r', `request-${wake}`, 'w', wake, 'k', known];
    await handle.redis.xadd(keyOf(team, 'outbox'), `${n}-0`, ...fields);
  }
}

async function jobIds(handle: RedisHandle, team: string): Promise<string[]> {
  const queue = new Queue(queueName, { connection: handle.redis, prefix: queuePrefix(team, 'worker') });
  const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'failed']);
  await queue.close();
  return jobs.flatMap(({ id }) => id ?? []).sort();
}

describe('the outbox relay', () => {
  it('[TM-5] turns each entry into one job and leaves nothing in the outbox', async () => {
    const handle = await connect();
    const { teams } = await relayOn(handle);
    const team = uniqueTeam();
    await teams.register(team);
    await writeOutbox(handle, team, 's', 1, 50);

    await eventually(async () => (await jobIds(handle, team)).length === 50);
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
    const groups = await handle.redis.xpending(keyOf(team, 'outbox'), 'relay');
    expect(groups[0]).toBe(0);
  });

  it('[TM-5] relays within a round trip of a read that is waiting, and hears of a new team at once', async () => {
    const handle = await connect();
    const { teams } = await relayOn(handle);
    const [first, team] = [uniqueTeam(), uniqueTeam()];
    await teams.register(first);
    await writeOutbox(handle, first, 's', 1);
    await eventually(async () => (await jobIds(handle, first)).length === 1);

    await teams.register(team);
    const at = performance.now();
    await writeOutbox(handle, team, 's', 1);
    await eventually(async () => (await jobIds(handle, team)).length === 1, { everyMs: 2 });
    expect(performance.now() - at).toBeLessThan(500); // far below the sweep's second
  });

  it('[ST-1] finds the team that another process wrote down', async () => {
    const handle = await connect();
    await relayOn(handle);
    const other = await connect();
    const team = uniqueTeam();
    await new Teams(other).register(team);
    await writeOutbox(other, team, 's', 1);
    await eventually(async () => (await jobIds(handle, team)).length === 1, { withinMs: 3000 });
  });

  it('[ST-7] takes over what a relay that died had read and not enqueued', async () => {
    const handle = await connect();
    const team = uniqueTeam();
    await new Teams(handle).register(team);
    await handle.redis.xgroup('CREATE', keyOf(team, 'outbox'), 'relay', '0', 'MKSTREAM');
    await writeOutbox(handle, team, 's', 1, 3);
    await handle.redis.xreadgroup('GROUP', 'relay', 'dead', 'STREAMS', keyOf(team, 'outbox'), '>');

    await relayOn(handle, 100);
    await eventually(async () => (await jobIds(handle, team)).length === 3);
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
  });

  it('[ST-7] several relays at once enqueue each wake once', async () => {
    const handles = [await connect(), await connect(), await connect()];
    const team = uniqueTeam();
    for (const handle of handles) await relayOn(handle, 50);
    const [handle] = handles;
    if (!handle) throw new Error('no connection');
    await new Teams(handle).register(team);
    await writeOutbox(handle, team, 's', 1, 200);
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
    expect(await jobIds(handle, team)).toHaveLength(200);
  });

  it('[OP-6] goes on where it was when Redis was killed and is back', async () => {
    const handle = await connect();
    const { teams } = await relayOn(handle, 200);
    const team = uniqueTeam();
    await teams.register(team);
    await writeOutbox(handle, team, 's', 1);
    await eventually(async () => (await jobIds(handle, team)).length === 1);

    await server.kill9();
    await eventually(() => handle.state() === 'down');
    await server.restart();
    await handle.ready();
    await writeOutbox(handle, team, 's', 2, 5);
    await eventually(async () => (await jobIds(handle, team)).length === 5);
  });

  it('[TM-5] an entry that nobody can read is thrown away and holds up no other', async () => {
    const handle = await connect();
    const { teams } = await relayOn(handle);
    const team = uniqueTeam();
    await teams.register(team);
    await handle.redis.xadd(keyOf(team, 'outbox'), '1-0', 'x', 'y');
    await handle.redis.hset(keyOf(team, 'sequence'), 'outbox', 1);
    await writeOutbox(handle, team, 's', 1);
    await eventually(async () => (await jobIds(handle, team)).length === 1);
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
  });

  it('[TM-5] wakes nobody for a session that is no task', async () => {
    const handle = await connect();
    const { teams } = await relayOn(handle);
    const team = uniqueTeam();
    await teams.register(team);
    await writeOutbox(handle, team, 'foreign', 1, 1, '0');
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
    expect(await jobIds(handle, team)).toEqual([]);
  });

  it('closes twice, at once, and leaves no consumer behind', async () => {
    const handle = await connect();
    const { relay, teams } = await relayOn(handle);
    const team = uniqueTeam();
    await teams.register(team);
    await writeOutbox(handle, team, 's', 1);
    await eventually(async () => (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0);
    const at = performance.now();
    await relay.close();
    await relay.close();
    expect(performance.now() - at).toBeLessThan(1000);
    expect(await handle.redis.xinfo('CONSUMERS', keyOf(team, 'outbox'), 'relay')).toEqual([]);
  });
});

describe('the queues', () => {
  it('[TM-5] a kept failed job swallows its own id but no later wake', async () => {
    const handle = await connect();
    const queues = new TaskQueues(handle);
    closing.push(() => queues.close());
    const team = uniqueTeam();
    const prefix = queuePrefix(team, 'worker');
    const queue = new Queue(queueName, { connection: handle.redis, prefix });
    const ran: string[] = [];
    await queues.enqueueWake(team, 'worker', 's', 1);
    const fail = async (job: { id?: string | undefined }) => {
      ran.push(job.id ?? '');
      throw new UnrecoverableError('kept, as one that has used up its attempts');
    };
    const worker = new Worker(queueName, fail, {
      connection: { ...handle.options, retryStrategy: () => 100, maxRetriesPerRequest: null },
      prefix,
    });
    closing.push(() => queue.close());
    closing.push(() => worker.close());
    await eventually(async () => (await queues.counts(team, 'worker')).failed === 1);

    await queues.enqueueWake(team, 'worker', 's', 1);
    await queues.enqueueWake(team, 'worker', 's', 2);
    await eventually(async () => (await queues.counts(team, 'worker')).failed === 2);
    expect(ran).toEqual(['wake-s-1', 'wake-s-2']);
  });

  it('[TM-5] takes any session id for a job, and adds a job once', async () => {
    const handle = await connect();
    const queues = new TaskQueues(handle);
    closing.push(() => queues.close());
    const team = uniqueTeam();
    await queues.enqueueWake(team, 'worker', 'a:b%', 1);
    await queues.enqueueWake(team, 'worker', 'a:b%', 1);
    await queues.enqueueWake(team, 'worker', 'a%3Ab%', 1);
    expect((await queues.counts(team, 'worker')).waiting).toBe(2);
  });

  it('[TM-42] jobs that ended leave nothing behind', async () => {
    const handle = await connect();
    const queues = new TaskQueues(handle);
    closing.push(() => queues.close());
    const team = uniqueTeam();
    const prefix = queuePrefix(team, 'worker');
    const used = async () => {
      let bytes = 0;
      for (const key of await handle.redis.keys(`${prefix}*`))
        bytes += Number(await handle.redis.memory('USAGE', key));
      return bytes;
    };
    let done = 0;
    const count = async () => {
      done += 1;
    };
    const worker = new Worker(queueName, count, {
      connection: { ...handle.options, retryStrategy: () => 100, maxRetriesPerRequest: null },
      prefix,
      concurrency: 16,
    });
    closing.push(() => worker.close());
    const run = async (from: number, to: number) => {
      for (let wake = from; wake < to; wake += 1) await queues.enqueueWake(team, 'worker', 's', wake);
      await eventually(async () => {
        const { waiting, active, delayed } = await queues.counts(team, 'worker');
        return done === to && waiting + active + delayed === 0;
      });
    };
    await run(0, 200);
    const before = await used();
    await run(200, 1000);
    // Redis trims the queue's own events by whole nodes; a trace of each job would be several times as much.
    expect(await used()).toBeLessThanOrEqual(before + 16 * 1024);
    expect((await handle.redis.keys(`${prefix}*`)).length).toBeLessThanOrEqual(5);
  });

  it('[WR-30] refuses at once while Redis is away, and works again with the same queue when it is back', async () => {
    const handle = await connect();
    const queues = new TaskQueues(handle);
    closing.push(() => queues.close());
    const team = uniqueTeam();
    await queues.enqueueWake(team, 'worker', 's', 1);
    await server.kill9();
    await eventually(() => handle.state() === 'down');
    await expect(queues.enqueueWake(team, 'worker', 's', 2)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await expect(queues.enqueueWake(uniqueTeam(), 'worker', 's', 2)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await server.restart();
    await handle.ready();
    await queues.enqueueWake(team, 'worker', 's', 2);
    expect((await queues.counts(team, 'worker')).waiting).toBe(2);
  });

  it('[WR-30] answers within its deadline when Redis hangs', async () => {
    const handle = connectRedis({ url: server.url, name: 'test', timeoutMs: 200 });
    closing.push(() => handle.close());
    await handle.ready();
    const queues = new TaskQueues(handle);
    const team = uniqueTeam();
    await queues.enqueueWake(team, 'worker', 's', 1);
    server.pause();
    try {
      await expect(queues.enqueueWake(team, 'worker', 's', 2)).rejects.toMatchObject({
        code: 'store_unavailable',
      });
    } finally {
      server.resume();
    }
    await handle.ready();
    await eventually(() => queues.enqueueWake(team, 'worker', 's', 2));
    expect((await queues.counts(team, 'worker')).waiting).toBe(2);
  });

  it('[TM-2] refuses what is no task', async () => {
    const handle = await connect();
    const queues = new TaskQueues(handle);
    closing.push(() => queues.close());
    const job = { task: '', team: 'x', cwd: '/', agent: 'a' };
    await expect(queues.enqueueTask('x', 'worker', job)).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
