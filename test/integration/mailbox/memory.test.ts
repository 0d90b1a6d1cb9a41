import { keyOf, type RedisHandle, type SessionLease, type SessionName } from '@placet/mailbox';
import { digestOfText, newRequestId, newSessionId } from '@placet/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import { commandOf, openStore, rivalOf, type StoreWorld, submissionOf, teammate } from './store-world.ts';

let server: OwnRedis;
let world: StoreWorld;

beforeAll(async () => {
  server = await startOwnRedis(['--appendonly', 'no']);
  world = await openStore(server.url);
});
afterAll(async () => {
  await world.close();
  await server.stop();
});

async function usedMemory({ redis }: RedisHandle): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** Takes the history away; answers the bytes that gives back. */
async function forgetHistory({ redis }: RedisHandle): Promise<number> {
  const used = await usedMemory(world.handle);
  for (const name of ['events', 'audit'] as const) await redis.xtrim(keyOf(world.team, name), 'MAXLEN', 0);
  return used - (await usedMemory(world.handle));
}

interface Parked {
  sessionId: string;
  requestId: string;
  planBytes: number;
}

/** Parks a task of ordinary size on its plan, as a teammate does. */
async function park(number: number): Promise<Parked> {
  const { team, mailbox } = world;
  const name = { team, teammate, sessionId: newSessionId() };
  const task = `Rename the option --foo to --bar in the documentation ${number}`.padEnd(60, '.').slice(0, 60);
  const cwd = '/home/ada/work/projects/widgets';
  await mailbox.tasks.open(name, { task, team, cwd, agent: 'codemod' });
  const lease = await hold(name);
  const requestId = newRequestId(teammate, team);
  const planContent = `# Plan ${number}\n\n${'1. Look at each page and rename the option there.\n'.repeat(30)}`;
  await mailbox.tasks.change(name, lease, { intent: { requestId, digest: digestOfText(planContent) } });
  const submission = submissionOf(world, {
    requestId,
    planContent,
    sessionId: name.sessionId,
    planFilePath: `/home/ada/.placet/plans/${name.sessionId}.md`,
    workspace: { cwd, head: digestOfText(task).slice(7, 47), task: digestOfText(task), agent: 'codemod' },
  });
  await mailbox.requests.submit({ ...commandOf(world, submission), epoch: lease.epoch });
  await mailbox.tasks.release(name, lease);
  return { sessionId: name.sessionId, requestId, planBytes: Buffer.byteLength(planContent) };
}

async function hold(name: SessionName): Promise<SessionLease> {
  const held = await world.mailbox.tasks.hold(name, 'host-1:4711:0123456789abcdef', 30_000);
  if (held.kind !== 'held') throw new Error('not held');
  return held.lease;
}

/** Ends a parked task as its teammate does, the inbox entry included. */
async function end({ requestId, sessionId }: Parked): Promise<void> {
  const { team, mailbox } = world;
  const name = { team, teammate, sessionId };
  await mailbox.requests.withdraw({ team, teammate, requestId });
  const lease = await hold(name);
  await mailbox.tasks.change(name, lease, { phase: 'withdrawn' });
  await mailbox.tasks.release(name, lease);
}

/** Does something for each, some at a time. */
async function forEach<Item, Result>(items: Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += 50) {
    results.push(...(await Promise.all(items.slice(from, from + 50).map(act))));
  }
  return results;
}

/** What the tables of Redis may be too large by, in bytes, for a few thousand that were there before. */
const tableSlack = 64 * 1024;

const sumOf = (parked: Parked[]) => parked.reduce((sum, { planBytes }) => sum + planBytes, 0);

it('[TM-42] a parked plan costs at most 2 KiB and 0.5 KiB of history beyond its bytes, and no more when most have gone', {
  timeout: 180_000,
}, async () => {
  const { team, mailbox, handle } = world;
  const forgetful = await rivalOf(world, server.url, { retentionMs: 1 });
  const tidy = async () => {
    await handle.redis.xtrim(keyOf(team, 'outbox'), 'MAXLEN', 0); // as relays leave it
    for (let taken = 1; taken > 0; ) {
      const entries = await mailbox.inboxes.take(team, teammate, 200);
      taken = await mailbox.inboxes.acknowledge(
        team,
        teammate,
        entries.map(({ id }) => id),
      );
    }
    await eventually(
      async () => {
        await forgetful.mailbox.requests.purge(team, 500);
        return (await handle.redis.zcard(keyOf(team, 'settled'))) === 0;
      },
      { withinMs: 60_000, what: 'purging' },
    );
  };
  await end(await park(-1));
  await tidy();
  await forgetHistory(handle);
  const usedBefore = await usedMemory(handle);
  const costOf = async (parked: Parked[], slack = 0) =>
    ((await usedMemory(handle)) - usedBefore - sumOf(parked) - slack) / parked.length;

  const all = await forEach(
    Array.from({ length: 3000 }, (_, number) => number),
    park,
  );
  const history = (await forgetHistory(handle)) / all.length;
  const cost = await costOf(all);
  console.log(`placet: a parked plan costs ${Math.round(cost)} bytes, and ${Math.round(history)} of history`);
  expect(cost).toBeLessThanOrEqual(2048);
  expect(history).toBeGreaterThan(100);
  expect(history).toBeLessThanOrEqual(512);

  const survivors = all.filter((_, place) => place % 33 === 0);
  await forEach(
    all.filter((_, place) => place % 33 !== 0),
    end,
  );
  await tidy();
  await forgetHistory(handle);
  // Redis gives its tables back by and by, and never quite: it shrinks what is less than a tenth full.
  const left = await eventually(
    async () => {
      const now = await costOf(survivors, tableSlack);
      return now <= 2048 && now;
    },
    { withinMs: 60_000, everyMs: 1000, what: 'a cost of 2 KiB for each survivor' },
  );
  console.log(`placet: each of the ${survivors.length} that are left costs ${Math.round(left)} bytes`);
  await forgetful.close();
});
