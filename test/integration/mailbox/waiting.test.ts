import { EventHub } from '@placet/mailbox';
import { newRequestId } from '@placet/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import { decide, failureOf, openStore, type StoreWorld, submit, teammate } from './store-world.ts';

let server: OwnRedis;
let world: StoreWorld;

beforeAll(async () => {
  server = await startOwnRedis();
});
beforeEach(async () => {
  world = await openStore(server.url);
});
afterEach(() => world.close());
afterAll(() => server.stop());

const wait = (requestId: string, timeoutMs = 30_000, signal?: AbortSignal) =>
  world.mailbox.hub.waitForRequest(world.team, requestId, timeoutMs, signal);
/** The hub's one read is waiting: whoever entered before has looked at its request. */
const reading = () =>
  eventually(async () => {
    const clients = String(await world.handle.redis.client('LIST')).split('\n');
    return clients.filter((line) => line.includes('cmd=xread')).length === 1;
  });
const waiters = (count: number) => eventually(() => world.mailbox.hub.waiters === count);

describe('waiting for a request', () => {
  it('[ST-6] ends within moments of the decision, for everyone who waits', async () => {
    const record = await submit(world);
    const waiting = Array.from({ length: 50 }, () => wait(record.requestId));
    await waiters(50);
    await reading();
    await decide(world, record);
    const at = performance.now();
    for (const result of await Promise.all(waiting))
      expect(result).toMatchObject({ kind: 'ended', record: { state: 'approved' } });
    expect(performance.now() - at).toBeLessThan(1000);
    expect(world.mailbox.hub.waiters).toBe(0);
  });

  it('[ST-6] never misses a decision that lands while the wait begins', async () => {
    for (let n = 0; n < 40; n += 1) {
      const record = await submit(world);
      const [result] = await Promise.all([
        wait(record.requestId, 20_000),
        decide(world, record, { outcome: 'rejected' }),
      ]);
      expect(result).toMatchObject({ kind: 'ended', record: { state: 'rejected' } });
    }
  }, 30_000);

  it('answers at once for one that has ended, and for one that is not there', async () => {
    const record = await submit(world);
    await decide(world, record);
    expect(await wait(record.requestId)).toMatchObject({ kind: 'ended' });
    expect(await wait(newRequestId(teammate, world.team))).toEqual({ kind: 'absent' });
  });

  it('says pending when the time is over', async () => {
    const { requestId } = await submit(world);
    expect(await wait(requestId, 30)).toMatchObject({
      kind: 'pending',
      why: 'timeout',
      record: { requestId },
    });
  });

  it('[WR-24] ends at the deadline, though no sweep ran', async () => {
    const { requestId } = await submit(world, { deadlineMs: 1000 });
    const at = performance.now();
    expect(await wait(requestId)).toMatchObject({ kind: 'ended', record: { state: 'timeout' } });
    expect(performance.now() - at).toBeLessThan(5000);
  });

  it('[ST-6] beyond the limit answers pending at once', async () => {
    const { handle } = world;
    const { events, requests } = world.mailbox;
    const hub = new EventHub({ handle, events, requests, maxWaiters: 2 });
    try {
      const record = await submit(world);
      const held = [1, 2].map(() => hub.waitForRequest(world.team, record.requestId, 30_000));
      await eventually(() => hub.waiters === 2);
      expect(await hub.waitForRequest(world.team, record.requestId, 30_000)).toMatchObject({
        kind: 'pending',
        why: 'busy',
      });
      await decide(world, record);
      for (const result of await Promise.all(held)) expect(result.kind).toBe('ended');
      expect(await hub.waitForRequest(world.team, record.requestId, 30_000)).toMatchObject({ kind: 'ended' });
    } finally {
      await hub.close();
    }
  });

  it('[ST-6] a stop answers pending', async () => {
    const { requestId } = await submit(world);
    const waiting = wait(requestId);
    await waiters(1);
    await world.mailbox.hub.close();
    expect(await waiting).toMatchObject({ kind: 'pending', why: 'closed' });
    expect(await wait(requestId)).toMatchObject({ kind: 'pending', why: 'closed' });
  });

  it('ends when its signal aborts', async () => {
    const { requestId } = await submit(world);
    const stop = new AbortController();
    const waiting = wait(requestId, 30_000, stop.signal);
    await waiters(1);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await waiters(0);
  });

  it('[OP-6] goes on waiting while Redis is away, and hears of a decision after it came back', async () => {
    const record = await submit(world);
    const waiting = wait(record.requestId);
    await waiters(1);
    await reading();
    await server.kill9();
    await eventually(() => world.handle.state() === 'down');
    await server.restart();
    await world.handle.ready();
    await decide(world, record);
    expect(await waiting).toMatchObject({ kind: 'ended', record: { state: 'approved' } });
  });

  it('[OP-6] a look that finds the store away is repeated, and the wait goes on', async () => {
    const { requestId } = await submit(world, { deadlineMs: 1000 });
    const waiting = wait(requestId);
    await waiters(1);
    await reading();
    await server.kill9();
    const deadline = Date.now() + 1000;
    await eventually(() => Date.now() > deadline + 100); // it looks at the deadline
    await server.restart();
    expect(await waiting).toMatchObject({ kind: 'ended', record: { state: 'timeout' } });
  });

  it('[WR-30] says that the store is away when it is from the start', async () => {
    const { requestId } = await submit(world);
    await server.kill9();
    await eventually(() => world.handle.state() === 'down');
    expect(await failureOf(wait(requestId))).toMatchObject({ code: 'store_unavailable' });
    await server.restart();
    expect(world.mailbox.hub.waiters).toBe(0);
  });

  it('[ST-6] ten thousand wait on one connection, and all hear of their decision', async () => {
    const record = await submit(world);
    const many = Array.from({ length: 10_000 }, () => wait(record.requestId, 50_000));
    await waiters(10_000);
    await reading();
    await decide(world, record);
    expect((await Promise.all(many)).every(({ kind }) => kind === 'ended')).toBe(true);
  }, 60_000);
});
