import {
  connectRedis,
  EventHub,
  EventLog,
  type FeedItem,
  keyOf,
  type RedisHandle,
  Teams,
} from '@placet/mailbox';
import type { TeamName } from '@placet/protocol';
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

async function open(maxWaiters?: number) {
  const handle = connectRedis({ url: server.url, name: 'test' });
  closing.push(() => handle.close());
  await handle.ready();
  const events = new EventLog(handle, new Teams(handle));
  const hub = new EventHub({ handle, events, requests: { get: async () => undefined }, maxWaiters });
  closing.push(() => hub.close());
  return { handle, events, hub, team: uniqueTeam() };
}

const note = (n: number) => ({ type: 'message', to: 'worker', from: `f${n}` }) as const;

async function append(events: EventLog, team: TeamName, from: number, to: number) {
  for (let n = from; n <= to; n += 1) await events.append(team, note(n));
}

/** Follows in the background; what came so far is in `items`. */
function follow(hub: EventHub, team: TeamName, after: string | undefined) {
  const items: FeedItem[] = [];
  const stop = new AbortController();
  const ended = (async () => {
    for await (const item of hub.subscribe(team, after, stop.signal)) items.push(item);
  })();
  closing.push(async () => {
    stop.abort();
    await ended;
  });
  return {
    items,
    stop,
    ended,
    ids: () => items.map((item) => (item.kind === 'event' ? item.event.id : item.kind)),
  };
}

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}-0`);

function trim(handle: RedisHandle, team: TeamName, keep: number) {
  return handle.redis.xtrim(keyOf(team, 'events'), 'MAXLEN', keep);
}

describe('the event log', () => {
  it('[ST-6] numbers the events of a team without gaps, whoever appends', async () => {
    const { events, team } = await open();
    await Promise.all(Array.from({ length: 100 }, (_, n) => events.append(team, note(n))));
    const page = await events.read(team, undefined, 200);
    expect(page.events.map(({ id }) => id)).toEqual(ids(1, 100));
    expect(page).toMatchObject({ reset: false, last: '100-0' });
    expect(await events.last(team)).toBe('100-0');
  });

  it('[ST-6] pages on from the last id read', async () => {
    const { events, team } = await open();
    await append(events, team, 1, 5);
    const first = await events.read(team, '0-0', 3);
    const second = await events.read(team, first.last, 3);
    const third = await events.read(team, second.last, 3);
    expect([first, second, third].map((page) => page.events.map(({ id }) => id))).toEqual([
      ids(1, 3),
      ids(4, 5),
      [],
    ]);
    expect(third).toMatchObject({ reset: false, last: '5-0' });
  });

  it.each(['6-0', '999999999999-0', 'x', '3', '-1-0', '3-1'])(
    '[ST-6] an id that never was (%s) resets the reader to the last event',
    async (after) => {
      const { events, team } = await open();
      await append(events, team, 1, 5);
      expect(await events.read(team, after, 10)).toEqual({ events: [], reset: true, last: '5-0' });
    },
  );

  it('[ST-6] an id before the first kept event resets the reader; the one just before it does not', async () => {
    const { handle, events, team } = await open();
    await append(events, team, 1, 10);
    await trim(handle, team, 4);
    expect(await events.read(team, '5-0', 10)).toMatchObject({ reset: true, last: '10-0' });
    expect((await events.read(team, '6-0', 10)).events.map(({ id }) => id)).toEqual(ids(7, 10));
    expect((await events.read(team, undefined, 10)).events.map(({ id }) => id)).toEqual(ids(7, 10));
    await trim(handle, team, 0);
    expect(await events.read(team, '9-0', 10)).toMatchObject({ reset: true });
    expect(await events.read(team, '10-0', 10)).toMatchObject({ reset: false, events: [] });
  });

  it('[ST-6] shows an event that it cannot read instead of leaving a gap', async () => {
    const { handle, events, team } = await open();
    await append(events, team, 1, 1);
    await handle.redis.xadd(keyOf(team, 'events'), '2-0', 'at', '1', 'b', 'no JSON');
    await handle.redis.hset(keyOf(team, 'sequence'), 'event', 2);
    await append(events, team, 3, 3);
    const page = await events.read(team, '1-0', 10);
    expect(page.events.map(({ id, type }) => [id, type])).toEqual([
      ['2-0', 'unreadable'],
      ['3-0', 'message'],
    ]);
  });
});

describe('the event hub', () => {
  it('[ST-6] goes on after an id, through what was and into what comes, without gap or repetition', async () => {
    const { events, hub, team } = await open();
    await append(events, team, 1, 20);
    const follower = follow(hub, team, '5-0');
    await append(events, team, 21, 60);
    await eventually(() => follower.items.length >= 55);
    expect(follower.ids()).toEqual(ids(6, 60));
  });

  it('[ST-6] without an id follows from now on', async () => {
    const { events, hub, team } = await open();
    await append(events, team, 1, 3);
    const follower = follow(hub, team, undefined);
    await eventually(() => hub.waiters === 1);
    await eventually(async () => {
      await events.append(team, note(0));
      return follower.items.length > 0;
    });
    expect(follower.ids()[0]).not.toBe('1-0');
    const numbers = follower.ids().map((id) => Number.parseInt(id, 10));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  });

  it('[ST-6] tells a follower from before the first kept event to start anew, and goes on from the last', async () => {
    const { handle, events, hub, team } = await open();
    await append(events, team, 1, 10);
    await trim(handle, team, 2);
    const follower = follow(hub, team, '1-0');
    await eventually(() => follower.items.length === 1);
    await append(events, team, 11, 12);
    await eventually(() => follower.items.length === 3);
    expect(follower.items[0]).toEqual({ kind: 'reset', id: '10-0' });
    expect(follower.ids().slice(1)).toEqual(ids(11, 12));
  });

  it('[ST-6] reads for any number of followers of any number of teams on one connection', async () => {
    const { handle, events, hub, team } = await open();
    const teams = [team, uniqueTeam(), uniqueTeam()];
    const followers = teams.flatMap((name) => Array.from({ length: 30 }, () => follow(hub, name, '0-0')));
    for (const name of teams) await append(events, name, 1, 5);
    await eventually(() => followers.every(({ items }) => items.length === 5));
    const clients = String(await handle.redis.client('LIST')).split('\n');
    expect(clients.filter((line) => line.includes('cmd=xread')).length).toBe(1);
  });

  it('[ST-6] a team that joins while a read is waiting is heard at once', async () => {
    const { events, hub, team } = await open();
    const first = follow(hub, team, '0-0');
    await append(events, team, 1, 1);
    await eventually(() => first.items.length === 1);
    const other = uniqueTeam();
    const second = follow(hub, other, '0-0');
    await append(events, other, 1, 3);
    await eventually(() => second.items.length === 3, { withinMs: 1000 });
  });

  it('[OP-6] misses nothing when Redis is killed and comes back', async () => {
    const { handle, events, hub, team } = await open();
    const follower = follow(hub, team, '0-0');
    await append(events, team, 1, 5);
    await eventually(() => follower.items.length === 5);
    await server.kill9();
    await eventually(() => handle.state() === 'down');
    await server.restart();
    await handle.ready();
    await append(events, team, 6, 10);
    await eventually(() => follower.items.length === 10);
    expect(follower.ids()).toEqual(ids(1, 10));
  });

  it('[ST-6] refuses a follower beyond the limit', async () => {
    const { hub, team } = await open(2);
    follow(hub, team, '0-0');
    follow(hub, team, '0-0');
    await eventually(() => hub.waiters === 2);
    await expect(hub.subscribe(team, '0-0', new AbortController().signal).next()).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });

  it('[ST-6] ends every follower when it closes', async () => {
    const { hub, team } = await open();
    const followers = [follow(hub, team, '0-0'), follow(hub, uniqueTeam(), undefined)];
    await eventually(() => hub.waiters === 2);
    await hub.close();
    await Promise.all(followers.map(({ ended }) => ended));
    expect(hub.waiters).toBe(0);
  });

  it('a follower that stops listening is forgotten', async () => {
    const { hub, team } = await open();
    const follower = follow(hub, team, '0-0');
    await eventually(() => hub.waiters === 1);
    follower.stop.abort();
    await follower.ended;
    expect(hub.waiters).toBe(0);
  });
});
