import { teamsKey } from '@placet/mailbox';
import { isPlacetError } from '@placet/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LeadProcess, makeLeadKey, submitPlan } from '../../support/decision-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startCluster, type TestCluster } from '../../support/redis-cluster.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';
import {
  decide,
  failureOf,
  gapless,
  numbersOf,
  openStore,
  recordOf,
  type StoreWorld,
  submit,
} from './store-world.ts';
import { insist, startTraffic } from './traffic.ts';

let cluster: TestCluster;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  cluster = await startCluster({ replica: true });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => cluster.stop());

async function openIn(team: string): Promise<StoreWorld> {
  const world = await openStore(cluster.url);
  closing.push(() => world.close());
  return { ...world, team };
}

describe('a Cluster that changes', () => {
  it('[ST-8, I4] loses nothing and does nothing twice while a team moves to another master', async () => {
    const world = await openIn(await cluster.teamOn(cluster.master(1)));
    const waitedFor = await submit(world);
    const waiting = world.mailbox.hub.waitForRequest(world.team, waitedFor.requestId, 50_000);
    const lead = await LeadProcess.start(cluster.url, await makeLeadKey());
    closing.push(() => lead.close());
    const load = startTraffic(lead, world.team);
    const { acknowledged } = load;
    const more = (count: number) => {
      const until = acknowledged.length + count;
      return eventually(() => acknowledged.length >= until, { what: 'more requests' });
    };
    await more(10);
    let moved = 0;
    await cluster.moveTeam(world.team, cluster.master(1), cluster.master(2), async () => {
      moved += 1;
      if (moved > 1) return;
      // What is read while half of the keys are elsewhere is whole, or is refused.
      const look = await recordOf(world, waitedFor).catch((error: unknown) => error);
      if (isPlacetError(look)) expect(look.code).toBe('store_unavailable');
      else expect(look).toMatchObject({ state: 'pending' });
    });
    await more(10);
    await load.stop();
    await decide(world, waitedFor);
    expect(moved).toBeGreaterThan(1);
    expect(await waiting).toMatchObject({ kind: 'ended' });
    for (const record of acknowledged)
      expect(await recordOf(world, record)).toMatchObject({ state: 'approved' });
    const { ids, last } = await numbersOf(world, 'events');
    expect(ids).toEqual(gapless(last));
    expect(last).toBe(2 * (acknowledged.length + 1)); // each was submitted and decided once
    await cluster.works();
  });

  it('[ST-8, OP-6] outlives the loss of a master: calls fail in time, then go on at its replica', async () => {
    const { replica } = cluster;
    if (!replica) throw new Error('the first master has a replica');
    const team = await cluster.teamOn(cluster.master(0), 'worker');
    const world = await TeammateWorld.open(cluster.url, team);
    closing.push(() => world.close());
    const store = await openIn(team);
    await world.teammate();
    const sessionId = await world.task({ task: 'Write the file' });
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    const waiting = store.mailbox.hub.waitForRequest(team, request.requestId, 50_000);
    await eventually(() => store.mailbox.hub.waiters === 1);
    await eventually(async () => Number(await cluster.admin(cluster.master(0)).wait(1, 100)) === 1);
    closing.push(async () => {
      await cluster.master(0).restart();
      await cluster.works();
    });

    // As a failover does that came before the name was replicated.
    await store.mailbox.teams.register(team);
    await store.handle.redis.srem(teamsKey, team);
    await cluster.master(0).kill9();
    const at = performance.now();
    expect(await failureOf(recordOf(store, request))).toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - at).toBeLessThan(6000);

    await insist(() => world.lead.decide(request));
    expect(await waiting).toMatchObject({ kind: 'ended', record: { state: 'approved' } });
    expect((await cluster.admin(replica).info('replication')).includes('role:master')).toBe(true);
    await eventually(() => store.handle.state() === 'ready');
    // The worker lost its queue with the master, and finds it again.
    await world.untilPhase(sessionId, 'done', 20_000);
    await submitPlan(store.mailbox, team);
    expect(await store.mailbox.teams.list()).toContain(team);
  });

  it('[TM-45] reads nothing from a replica, even where only that is left', async () => {
    const { replica } = cluster;
    if (!replica) throw new Error('the first master has a replica');
    const follower = (await cluster.admin(replica).info('replication')).includes('role:slave')
      ? replica
      : cluster.master(0);
    const masters = [replica, ...cluster.masters].filter((node) => node !== follower);
    const world = await openIn(await cluster.teamOn(cluster.master(0)));
    const record = await submit(world);
    await eventually(async () => {
      const text = await cluster.admin(follower).info('keyspace');
      return text.includes('db0') && (await recordOf(world, record)).state === 'pending';
    });
    await Promise.all(masters.map((node) => node.kill9()));
    const until = performance.now() + 1500;
    while (performance.now() < until)
      expect(await failureOf(recordOf(world, record))).toMatchObject({ code: 'store_unavailable' });
    expect(world.handle.state()).toBe('down');
  });
});
