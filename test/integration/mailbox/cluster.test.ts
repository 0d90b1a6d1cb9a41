import {
  connectRedis,
  keyOf,
  OutboxRelay,
  type RedisHandle,
  TaskQueues,
  type TeammatePresence,
} from '@placet/mailbox';
import type { Job } from '@placet/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startCluster, type TestCluster } from '../../support/redis-cluster.ts';
import { startOwnRedis } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';
import { decide, failureOf, openStore, recordOf, type StoreWorld, submit, teammate } from './store-world.ts';

let cluster: TestCluster;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  cluster = await startCluster({ replica: true });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => cluster.stop());

async function openOn(place: number): Promise<StoreWorld> {
  const world = await openStore(cluster.url);
  closing.push(() => world.close());
  return { ...world, team: await cluster.teamOn(cluster.master(place)) };
}

function connect(options: Partial<Parameters<typeof connectRedis>[0]> = {}): RedisHandle {
  const handle = connectRedis({ url: cluster.url, name: 'test', ...options });
  closing.push(() => handle.close());
  return handle;
}

async function relayOn({ handle, mailbox }: StoreWorld): Promise<TaskQueues> {
  const queues = new TaskQueues(handle);
  const relay = new OutboxRelay({ handle, queues, teams: mailbox.teams });
  relay.start();
  closing.push(() => queues.close());
  closing.push(() => relay.close());
  return queues;
}

/** Decides a request whose end somebody waits for; how long after that the waiter knew, in milliseconds. */
async function wakeLatency(world: StoreWorld): Promise<number> {
  const record = await submit(world);
  const waiting = world.mailbox.hub.waitForRequest(world.team, record.requestId, 20_000);
  await eventually(() => world.mailbox.hub.waiters === 1);
  await decide(world, record);
  const at = performance.now();
  expect(await waiting).toMatchObject({ kind: 'ended', record: { state: 'approved' } });
  return performance.now() - at;
}

/** Decides a request of a session with a task; how long after that its wake was in the queue, in milliseconds. */
async function relayLatency(world: StoreWorld, queues: TaskQueues): Promise<number> {
  const { team } = world;
  const record = await submit(world);
  const job: Job = { task: 'x', team, cwd: '/repository', agent: 'codemod' };
  await world.mailbox.tasks.open({ team, teammate, sessionId: record.sessionId }, job);
  const before = (await queues.counts(team, teammate)).waiting;
  await decide(world, record);
  const at = performance.now();
  await eventually(async () => (await queues.counts(team, teammate)).waiting > before, { everyMs: 2 });
  return performance.now() - at;
}

describe('on a Cluster', () => {
  it('[ST-8, ST-1, TM-40] serves teams on every master, each from one slot', async () => {
    const worlds = await Promise.all([openOn(0), openOn(1), openOn(2)]);
    for (const world of worlds) {
      const { team, mailbox } = world;
      const [first, second] = [await submit(world), await submit(world)];
      await decide(world, first);
      await mailbox.presence.report(team, teammate, 'p1', 60_000);
      expect(await recordOf(world, first)).toMatchObject({ state: 'approved' });
      expect(await mailbox.requests.list(team, { limit: 10 })).toMatchObject({
        requests: [{ requestId: second.requestId }, { requestId: first.requestId }],
      });
      expect(await mailbox.presence.list(team)).toMatchObject([
        { teammate, processes: 1 } satisfies Partial<TeammatePresence>,
      ]);
      expect(await mailbox.duties.lease(team, 'deadlines', 'p1', 10_000)).toBe(1);
      expect(await mailbox.requests.expireDue(team, 10)).toBe(0);
    }
    const teams = await worlds[0]?.mailbox.teams.list();
    expect(teams).toEqual(expect.arrayContaining(worlds.map(({ team }) => team)));
  });

  it('[ST-8] wakes who waits, and the queue, by a hint', async () => {
    const world = await openOn(1);
    const queues = await relayOn(world);
    await wakeLatency(world);
    await relayLatency(world, queues);
    const waits = [await wakeLatency(world), await wakeLatency(world), await wakeLatency(world)];
    const wakes = [await relayLatency(world, queues), await relayLatency(world, queues)];
    // A sweep alone would take half a second on average.
    expect(Math.min(...waits)).toBeLessThan(200);
    expect(Math.min(...wakes)).toBeLessThan(200);
  });

  it('[ST-8, TM-45] wakes them by the sweep where no hint gets through', async () => {
    await cluster.everywhere('ACL', 'SETUSER', 'default', 'resetchannels');
    try {
      const world = await openOn(2);
      const queues = await relayOn(world);
      expect(await wakeLatency(world)).toBeLessThan(3000);
      expect(await relayLatency(world, queues)).toBeLessThan(3000);
    } finally {
      await cluster.everywhere('ACL', 'SETUSER', 'default', 'allchannels');
    }
  });

  it('[ST-8] blocks nowhere, and follows its teams for all that', async () => {
    const world = await openOn(0);
    const record = await submit(world);
    await relayOn(world);
    const waiting = world.mailbox.hub.waitForRequest(world.team, record.requestId, 20_000);
    await eventually(
      async () => (await world.handle.redis.xinfo('GROUPS', keyOf(world.team, 'outbox'))) !== null,
    );
    const infos = await Promise.all(cluster.masters.map((node) => cluster.admin(node).info('clients')));
    for (const info of infos) expect(info).toContain('blocked_clients:0');
    expect(() => world.handle.duplicate('blocking')).toThrow(expect.objectContaining({ code: 'internal' }));
    await decide(world, record);
    await waiting;
  });

  it('[TM-45] reads from masters only', async () => {
    const { replica } = cluster;
    if (!replica) throw new Error('the first master has a replica');
    const world = await openOn(0);
    await cluster.admin(replica).config('RESETSTAT');
    const record = await submit(world);
    await decide(world, record);
    const waiting = world.mailbox.hub.waitForRequest(world.team, (await submit(world)).requestId, 500);
    for (let n = 0; n < 20; n += 1) {
      expect(await world.mailbox.requests.getWithPlan(world.team, record.requestId)).toBeDefined();
      await world.mailbox.events.last(world.team);
    }
    await waiting;
    const reads = /cmdstat_(?:get|hget|hgetall|mget|xread|zrange)\b/g;
    const itsMaster = await cluster.admin(cluster.master(0)).info('commandstats');
    expect(itsMaster.match(reads)).toEqual(
      expect.arrayContaining(['cmdstat_get', 'cmdstat_hget', 'cmdstat_xread']),
    );
    expect((await cluster.admin(replica).info('commandstats')).match(reads)).toBeNull();
  });

  describe('a teammate', () => {
    let world: TeammateWorld;
    beforeEach(async () => {
      world = await TeammateWorld.open(cluster.url);
    });
    afterEach(() => world.close());

    it('[ST-8, TM-5, TM-16] goes the whole way: task, plan, decision, wake, work, branch', async () => {
      await world.teammate();
      const sessionId = await world.task({ task: 'Write the file' });
      const request = await world.untilPlanned(sessionId);
      await world.untilPhase(sessionId, 'awaiting_approval');
      await world.lead.decide(request, { permissionMode: 'acceptEdits' });
      const branch = await world.untilPublished(sessionId);
      expect(await world.git('show', `${branch}:done.txt`)).toBe('acceptEdits');
      expect(await world.request(request.requestId)).toMatchObject({ work: { state: 'done' } });
    });
  });
});

describe('what a Cluster is judged by', () => {
  const mend = (...command: [string, ...string[]]) => closing.push(() => cluster.everywhere(...command));

  it('[ST-8, TM-14] every master: one that may evict is named', async () => {
    const bad = cluster.master(2);
    mend('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await cluster.admin(bad).config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(connect().ready()).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringMatching(
        new RegExp(`127.0.0.1:${bad.port}, .*CONFIG SET maxmemory-policy noeviction`),
      ),
    });
  });

  it('[ST-8, TM-46] in profile strict, how every master syncs', async () => {
    mend('CONFIG', 'SET', 'appendfsync', 'everysec');
    const strict = { durability: { profile: 'strict', replicas: 0 } } as const;
    await cluster.everywhere('CONFIG', 'SET', 'appendfsync', 'always');
    await cluster.admin(cluster.master(1)).config('SET', 'appendfsync', 'everysec');
    await expect(connect(strict).ready()).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringContaining(`127.0.0.1:${cluster.master(1).port}`),
    });
    await cluster.everywhere('CONFIG', 'SET', 'appendfsync', 'always');
    await connect(strict).ready();
  });

  it('[ST-8, TM-46] refuses to promise replicas, which it does not wait for', () => {
    const durability = { profile: 'strict', replicas: 1 } as const;
    expect(() => connect({ durability })).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining('redis+sentinel://'),
      }),
    );
  });

  it('[ST-8] a node of it is refused as a single server, and a single server as a Cluster', async () => {
    const alone = connect({ url: cluster.master(0).url });
    expect((await failureOf(alone.ready())).message).toContain('redis+cluster://');
    const server = await startOwnRedis();
    closing.push(() => server.stop());
    const noCluster = connect({ url: server.url.replace('redis:', 'redis+cluster:') });
    expect(await failureOf(noCluster.ready())).toMatchObject({ code: 'redis_unsuitable' });
  });

  it('[WR-30, OP-6] a command fails at once while no node can be reached, and there is a wait for one', async () => {
    const nowhere = connect({ url: 'redis+cluster://127.0.0.1:1,127.0.0.1:2' });
    const at = performance.now();
    await expect(nowhere.redis.get('x')).rejects.toThrow();
    await expect(nowhere.redis.multi().get('x').exec()).rejects.toThrow();
    expect(performance.now() - at).toBeLessThan(200);
    await expect(nowhere.ready(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
    const waiting = expect(nowhere.ready()).rejects.toMatchObject({ code: 'store_unavailable' });
    await nowhere.close();
    await waiting;
  });

  it('[OP-6] is found by a host name, and nothing is said to be away', async () => {
    const said: string[] = [];
    const say = (_fields: object, message: string) => said.push(message);
    const log = { debug: () => undefined, info: say, warn: say, error: say };
    const handle = connect({ url: cluster.url.replaceAll('127.0.0.1', 'localhost'), log });
    await handle.ready();
    expect(handle.masters()).toHaveLength(3);
    expect(said).toEqual([]);
  });

  it('[ST-8] takes a user and a password, and says when they are refused', async () => {
    mend('ACL', 'DELUSER', 'placet');
    await cluster.everywhere('ACL', 'SETUSER', 'placet', 'on', '>secret', '~*', '&*', '+@all');
    const as = (login: string) => ({ url: cluster.url.replace('://', `://${login}@`) });
    await connect(as('placet:secret')).ready();
    await connect({ ...as('placet'), password: 'secret' }).ready();
    expect(await failureOf(connect(as('placet:wrong')).ready())).toMatchObject({ code: 'redis_unsuitable' });
  });
});
