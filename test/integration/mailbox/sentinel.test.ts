import { connectRedis, type RedisHandle } from '@placet/mailbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LeadProcess, makeLeadKey, submitPlan } from '../../support/decision-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startSentinel, type TestSentinel } from '../../support/redis-sentinel.ts';
import { uniqueTeam } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';
import { failureOf, gapless, numbersOf, recordOf } from './store-world.ts';
import { insist, startTraffic } from './traffic.ts';

let sentinel: TestSentinel;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  sentinel = await startSentinel(['--appendfsync', 'always']);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => sentinel.stop());

function connect(options: Partial<Parameters<typeof connectRedis>[0]> = {}): RedisHandle {
  const handle = connectRedis({ url: sentinel.url, name: 'test', ...options });
  closing.push(() => handle.close());
  return handle;
}

const failedOver = (was: { port: number }) =>
  eventually(async () => (await sentinel.roles()).master.port !== was.port, {
    what: 'a failover',
    withinMs: 20_000,
  });

describe('behind Sentinels', () => {
  it('[OP-4, OP-6, TM-46] loses nothing acknowledged when the master dies, and goes on at the replica', async () => {
    const strict = { profile: 'strict', replicas: 1 } as const;
    const lead = await LeadProcess.start(sentinel.url, await makeLeadKey(), strict);
    closing.push(() => lead.close());
    const team = uniqueTeam();
    const world = { handle: lead.handle, mailbox: lead.mailbox, team, close: () => lead.close() };
    const load = startTraffic(lead, team);
    const { acknowledged } = load;
    await eventually(() => acknowledged.length >= 20);
    const { master } = await sentinel.roles();

    await master.kill9();
    const at = performance.now();
    const failure = await failureOf(submitPlan(lead.mailbox, team));
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - at).toBeLessThan(6000);
    await failedOver(master);
    await eventually(() => lead.handle.state() === 'ready', { withinMs: 20_000 });
    const before = acknowledged.length;
    await eventually(() => load.codes.has('not_durable'));
    expect(acknowledged).toHaveLength(before); // until the lost server follows the new master
    await master.restart();
    await sentinel.follows(master);
    await eventually(() => acknowledged.length >= before + 20, { withinMs: 20_000 });
    await load.stop();

    for (const record of acknowledged)
      expect(await recordOf(world, record)).toMatchObject({ state: 'approved' });
    const { ids, last } = await numbersOf(world, 'events');
    expect(ids).toEqual(gapless(last));
  });

  it('[OP-4, TM-45, TM-5] leaves a master that was replaced while it hung, and wakes a teammate at the new one', async () => {
    const team = uniqueTeam();
    const world = await TeammateWorld.open(sentinel.url, team);
    closing.push(() => world.close());
    await world.teammate();
    const sessionId = await world.task({ task: 'Write the file' });
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    const waiting = world.lead.mailbox.hub.waitForRequest(team, request.requestId, 50_000);
    const { master, other } = await sentinel.roles();
    await sentinel.follows(other);

    const { redis } = world.lead.handle;
    const isAtOther = async () => (await redis.info()).includes(`tcp_port:${other.port}`);
    master.pause();
    try {
      await failedOver(master);
      // Sooner than its silence alone would end the connection.
      await eventually(isAtOther, { withinMs: 2000 });
    } finally {
      master.resume();
    }
    await insist(() => world.lead.decide(request));
    expect(await waiting).toMatchObject({ kind: 'ended', record: { state: 'approved' } });
    expect(await isAtOther()).toBe(true);
    await world.untilPhase(sessionId, 'done', 20_000);
    await sentinel.follows(master);
  });

  it('[OP-4] tells Sentinels their own password, and waits where they refuse it', async () => {
    const url = await sentinel.lockedSentinel('secret');
    await connect({ url: `${url}?sentinelPassword=secret` }).ready();
    const refused = connect({ url });
    await expect(refused.ready(AbortSignal.timeout(500))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(refused.state()).toBe('down');
  });
});
