import {
  connectRedis,
  createMailbox,
  type DecisionStore,
  type Durability,
  decideRequest,
  KeyedMutex,
  TaskQueues,
} from '@placet/mailbox';
import { digestOfText, newRequestId, newSessionId, type RequestRecord } from '@placet/protocol';
import { Redis } from 'ioredis';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LeadKey, makeLeadKey } from '../../support/decision-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis, uniqueTeam } from '../../support/redis-server.ts';
import { commandOf, failureOf, type StoreWorld, submissionOf, submit, teammate } from './store-world.ts';

const timeoutMs = 1500;
const always = ['--appendfsync', 'always', '--repl-diskless-sync-delay', '0'];
const strict: Durability = { profile: 'strict', replicas: 1 };

let master: OwnRedis;
let replica: OwnRedis;
let admin: Redis;
let world: StoreWorld;
let lead: LeadKey;
const closers: (() => Promise<unknown>)[] = [];

/** A process in profile `strict`. */
async function openStrict(url = master.url, durability = strict): Promise<StoreWorld> {
  const handle = connectRedis({ url, name: 'strict', timeoutMs, durability });
  closers.push(() => handle.close());
  await handle.ready(AbortSignal.timeout(10_000));
  const mailbox = createMailbox(handle);
  closers.push(() => mailbox.close());
  return { handle, mailbox, team: uniqueTeam(), close: () => Promise.resolve() };
}

function connect(server: OwnRedis): Redis {
  const redis = new Redis(server.url);
  redis.on('error', () => undefined); // the tests kill it
  closers.push(() => Promise.resolve(redis.disconnect()));
  return redis;
}

beforeAll(async () => {
  lead = await makeLeadKey();
});
beforeEach(async () => {
  master = await startOwnRedis(always);
  replica = await startOwnRedis([...always, '--replicaof', '127.0.0.1', String(master.port)]);
  closers.push(
    () => master.stop(),
    () => replica.stop(),
  );
  admin = connect(master);
  const follows = async () => {
    await admin.publish('here', '');
    return (await admin.wait(1, 200)) === 1;
  };
  await eventually(follows, { withinMs: 15_000, what: 'a replica that follows' });
  world = await openStrict();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const decide = (record: RequestRecord, requests: DecisionStore = world.mailbox.requests) =>
  decideRequest(
    { requests, signer: lead.signer, mutex: new KeyedMutex() },
    {
      team: record.team,
      record,
      outcome: 'approved',
      planDigest: record.plan.digest,
      permissionMode: 'acceptEdits',
      context: 'keep',
      decidedBy: 'local:ada',
      notAfterMs: 60_000,
      policyDigest: digestOfText('policy'),
      notices: [],
    },
  );

/** The code it fails with, and how long that took in milliseconds. */
async function timedFailure(call: Promise<unknown>): Promise<{ code: string; ms: number }> {
  const startedAt = performance.now();
  const { code } = await failureOf(call);
  return { code, ms: performance.now() - startedAt };
}

describe('profile strict, with a replica that must acknowledge', () => {
  it('[TM-46] says not_durable within the deadline while the replica is away; the repetition waits too, and then succeeds', async () => {
    const submission = submissionOf(world);
    const again = () => world.mailbox.requests.submit(commandOf(world, submission));
    await world.mailbox.teams.register(world.team);
    replica.pause();

    const first = await timedFailure(again());
    const second = await timedFailure(again());
    const elsewhere = await openStrict();
    const third = await failureOf(elsewhere.mailbox.requests.submit(commandOf(world, submission)));
    replica.resume();
    const result = await eventually(again);

    expect([first.code, second.code, third.code]).toEqual(['not_durable', 'not_durable', 'not_durable']);
    expect(Math.max(first.ms, second.ms)).toBeLessThan(timeoutMs + 100);
    expect(result.kind).toBe('replayed');
  });

  it('[TM-46] [WR-21] a decision that may have happened is one decision, whoever repeats it', async () => {
    const record = await submit(world);
    const { requests } = world.mailbox;
    // The replica goes between the reservation and the commit.
    const deciding = decide(record, {
      get: (team, requestId) => requests.get(team, requestId),
      commit: (command) => requests.commit(command),
      confirm: () => requests.confirm(),
      reserve: async (command) => {
        const reserved = await requests.reserve(command);
        replica.pause();
        return reserved;
      },
    });
    const first = await failureOf(deciding);
    const decided = (await requests.get(world.team, record.requestId)) ?? record;
    const second = await failureOf(decide(decided));
    replica.resume();
    const last = await eventually(() => decide(decided));

    expect([first.code, second.code]).toEqual(['not_durable', 'not_durable']);
    expect(decided.state).toBe('approved');
    expect(last.kind).toBe('replayed');
    expect(last.record.decision?.signature).toBe(decided.decision?.signature);
  });

  it('[TM-46] a task counts as queued only when the replica has it', async () => {
    const queues = new TaskQueues(world.handle);
    closers.push(() => queues.close());
    const { team } = world;
    const enqueue = () =>
      queues.enqueueTask(team, teammate, { task: 't', team, cwd: '/src', agent: 'codemod' }, session);
    const session = newSessionId();
    replica.pause();
    const { code } = await failureOf(enqueue());
    replica.resume();

    expect(code).toBe('not_durable');
    await eventually(enqueue);
    expect(await queues.counts(team, teammate)).toMatchObject({ waiting: 1 });
  });

  it('[TM-46] reading does not wait for it', async () => {
    const record = await submit(world);
    replica.pause();
    await admin.config('RESETSTAT');
    const { requests, events, inboxes } = world.mailbox;
    await requests.get(world.team, record.requestId);
    await requests.list(world.team, { limit: 10 });
    await events.read(world.team, undefined, 10);
    await inboxes.read(world.team, 'team-lead', { limit: 10 });
    expect(await admin.info('commandstats')).not.toContain('cmdstat_wait');
  });

  it('[TM-46] calls in flight together share their waiting', async () => {
    await submit(world);
    await admin.config('RESETSTAT');
    await Promise.all(Array.from({ length: 100 }, () => submit(world)));
    const [, waits = '0'] = /cmdstat_wait:calls=(\d+)/.exec(await admin.info('commandstats')) ?? [];
    expect(Number(waits)).toBeGreaterThan(0);
    expect(Number(waits)).toBeLessThan(30);
  });

  it('[TM-46] loses nothing it acknowledged to a kill -9 of the server', async () => {
    const acknowledged: RequestRecord[] = [];
    const writers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const record = await submit(world).catch(() => undefined);
        if (!record) return;
        acknowledged.push(record);
      }
    });
    await eventually(() => acknowledged.length >= 50);
    await master.kill9();
    await Promise.all(writers);
    await master.restart();
    await world.handle.ready(AbortSignal.timeout(10_000));

    for (const { team, requestId } of acknowledged)
      expect(await world.mailbox.requests.get(team, requestId)).toMatchObject({ state: 'pending' });
  });

  it('[TM-46] loses nothing it acknowledged to a failover to the replica', async () => {
    const acknowledged = [await submit(world), await submit(world)];
    for (const record of acknowledged) await decide(record);
    // From here on the replica gets nothing, and comes back only when the master is gone.
    replica.pause();
    await admin.client('KILL', 'TYPE', 'REPLICA');
    for (let place = 0; place < 3; place += 1) {
      const record = await submit(world).catch(() => undefined);
      if (record) acknowledged.push(record);
    }
    await master.kill9();
    replica.resume();
    await connect(replica).replicaof('NO', 'ONE');

    const survivor = await openStrict(replica.url, { profile: 'strict', replicas: 0 });
    expect(acknowledged.length).toBeGreaterThanOrEqual(2);
    for (const [place, { team, requestId }] of acknowledged.entries()) {
      const found = await survivor.mailbox.requests.get(team, requestId);
      expect(found?.state).toBe(place < 2 ? 'approved' : 'pending');
    }
  });
});

describe('what a server must give', () => {
  const handleOf = (server: OwnRedis, durability: Durability) => {
    const handle = connectRedis({ url: server.url, name: 'judge', timeoutMs, durability });
    closers.push(() => handle.close());
    return handle;
  };

  it('[TM-46] strict is refused at start by a server that syncs once a second, and is told how to mend it', async () => {
    await admin.config('SET', 'appendfsync', 'everysec');
    const error = await failureOf(handleOf(master, strict).ready());
    expect(error.code).toBe('redis_unsuitable');
    expect(error.message).toContain('CONFIG SET appendfsync always');
    await handleOf(master, { profile: 'standard', replicas: 0 }).ready();
  });

  it('[TM-46] strict is refused at start by a server without an append-only file', async () => {
    await admin.config('SET', 'appendonly', 'no');
    const error = await failureOf(handleOf(master, strict).ready());
    expect(error).toMatchObject({ code: 'redis_unsuitable' });
    expect(error.message).toContain('CONFIG SET appendonly yes');
  });

  it('[TM-46] standard, and strict without replicas, write on the ordinary connection', () => {
    for (const durability of [
      { ...strict, replicas: 0 },
      { ...strict, profile: 'standard' as const },
    ]) {
      const handle = handleOf(master, durability);
      expect(handle.writer).toBe(handle.redis);
    }
  });

  it('[TM-45] a replica is not read from; once it is promoted, it will do', async () => {
    const handle = handleOf(replica, { profile: 'standard', replicas: 0 });
    const refused = await handle.ready(AbortSignal.timeout(500)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'TimeoutError' });
    expect(handle.state()).toBe('down');

    await connect(replica).replicaof('NO', 'ONE');
    await handle.ready(AbortSignal.timeout(10_000));
    const { requests } = createMailbox(handle);
    const id = newRequestId(teammate, world.team);
    expect(await requests.get(world.team, id)).toBeUndefined();
  });
});
