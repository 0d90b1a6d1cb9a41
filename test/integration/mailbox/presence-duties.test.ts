import { keyOf, leafBytes, teamsKey } from '@placet/mailbox';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { decide, recordOf, rivalOf, type StoreWorld, submit, useStore } from './store-world.ts';

let world: StoreWorld;

const server = useStore({}, (opened) => {
  world = opened;
});

describe('presence', () => {
  it('[TM-12] counts the processes of a teammate that live, and says when it was last seen', async () => {
    const { presence } = world.mailbox;
    const before = Date.now() - 1;
    await presence.report(world.team, 'b', 'p1', 60_000);
    await presence.report(world.team, 'b', 'p2', 60_000);
    await presence.report(world.team, 'b', 'p2', 60_000);
    await presence.report(world.team, 'a', 'p1', 60_000);
    const seen = await presence.list(world.team);
    expect(seen).toMatchObject([
      { teammate: 'a', processes: 1 },
      { teammate: 'b', processes: 2 },
    ]);
    for (const { lastSeen } of seen) expect(Date.parse(lastSeen)).toBeGreaterThanOrEqual(before);
  });

  it('[TM-12] a worker that fell silent is lost, and its request is still pending', async () => {
    const { presence } = world.mailbox;
    const record = await submit(world);
    await presence.report(world.team, record.teammate, 'p1', 50);
    const [lost] = await eventually(async () => {
      const seen = await presence.list(world.team);
      return seen[0]?.processes === 0 && seen;
    });
    expect(lost?.teammate).toBe(record.teammate);
    expect((await recordOf(world, record)).state).toBe('pending');
  });

  it('[TM-42] forgets processes whose time is over', async () => {
    for (let n = 0; n < 20; n += 1) await world.mailbox.presence.report(world.team, 'a', `p${n}`, 1);
    await eventually(async () => {
      await world.mailbox.presence.report(world.team, 'a', 'last', 60_000);
      return (await world.handle.redis.hlen(keyOf(world.team, 'seen', 'a'))) === 1;
    });
  });
});

describe('duties', () => {
  it('[ST-7] of many processes exactly one has a duty', async () => {
    const { duties } = world.mailbox;
    const epochs = await Promise.all(
      Array.from({ length: 20 }, (_, n) => duties.lease(world.team, 'deadlines', `p${n}`, 10_000)),
    );
    expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([1]);
  });

  it('[ST-7] its holder prolongs it under the same epoch', async () => {
    const { duties } = world.mailbox;
    expect(await duties.lease(world.team, 'deadlines', 'p', 10_000)).toBe(1);
    expect(await duties.lease(world.team, 'deadlines', 'p', 20_000)).toBe(1);
    expect(await duties.lease(world.team, 'deadlines', 'q', 10_000)).toBeUndefined();
    expect(await duties.lease(world.team, 'retention', 'q', 10_000)).toBe(1);
  });

  it('[ST-7] a lapsed one goes on under the next epoch, whoever takes it', async () => {
    const { duties } = world.mailbox;
    await duties.lease(world.team, 'deadlines', 'p', 20);
    expect(await eventually(() => duties.lease(world.team, 'deadlines', 'q', 20))).toBe(2);
    await eventually(
      async () =>
        Number(await world.handle.redis.hget(keyOf(world.team, 'lease', 'deadlines'), 'lu')) < Date.now() - 5,
    );
    expect(await duties.lease(world.team, 'deadlines', 'q', 20)).toBe(3);
  });

  it('[ST-7] given back it is free at once, but only its holder can give it back', async () => {
    const { duties } = world.mailbox;
    await duties.lease(world.team, 'deadlines', 'p', 60_000);
    await duties.release(world.team, 'deadlines', 'q');
    expect(await duties.lease(world.team, 'deadlines', 'q', 60_000)).toBeUndefined();
    await duties.release(world.team, 'deadlines', 'p');
    expect(await duties.lease(world.team, 'deadlines', 'q', 60_000)).toBe(2);
  });

  it('[ST-7] a process that lost its duty changes nothing by it any more', async () => {
    const rival = await rivalOf(world, server.url);
    try {
      const epoch = await world.mailbox.duties.lease(world.team, 'retention', 'p', 20);
      expect(epoch).toBe(1);
      await eventually(() => rival.mailbox.duties.lease(world.team, 'retention', 'q', 60_000));
      const record = await submit(world);
      await decide(world, record, { outcome: 'rejected' });
      const fence = { duty: 'retention', epoch: 1 };
      await expect(world.mailbox.requests.purge(world.team, 10, fence)).resolves.toBe(0);
    } finally {
      await rival.close();
    }
  });
});

describe('teams', () => {
  it('[ST-1] are written down once a process, and listed without what is no name', async () => {
    const heard: string[] = [];
    const stop = world.mailbox.teams.onRegistered((team) => heard.push(team));
    await world.mailbox.teams.register(world.team);
    await world.mailbox.teams.register(world.team);
    stop();
    await world.mailbox.teams.register(`${world.team}-b`);
    await world.handle.redis.sadd(teamsKey, 'No Name!', '');
    const teams = await world.mailbox.teams.list();
    expect(teams).toEqual(expect.arrayContaining([world.team, `${world.team}-b`]));
    expect(teams).not.toContain('No Name!');
    expect(heard).toEqual([world.team]);
  });
});

describe('the audit log', () => {
  it('[IN-10, IN-12] is read in pages, as it was written, and a leaf is its number, time and bytes', async () => {
    for (let n = 0; n < 3; n += 1) await submit(world);
    const first = await world.mailbox.audit.read(world.team, 0, 2);
    const rest = await world.mailbox.audit.read(world.team, first.at(-1)?.seq ?? 0, 10);
    expect([...first, ...rest].map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await world.mailbox.audit.last(world.team)).toBe(3);
    const [entry] = first;
    if (!entry) throw new Error('there is no entry');
    expect(Buffer.from(leafBytes(entry)).toString()).toBe(`1\n${entry.atMs}\n${entry.body}`);
  });
});
