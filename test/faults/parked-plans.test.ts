import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createMailbox,
  decideRequest,
  keyOf,
  type MailboxPort,
  OutboxRelay,
  TaskQueues,
} from '@placet/mailbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type MemoryUse, measureMemory } from '../support/fault-memory.ts';
import type { FaultProcess } from '../support/fault-process.ts';
import { atScale, faultTestTimeoutMs, reportMeasured } from '../support/fault-scale.ts';
import { inParallel, type ParkedPlan, parkPlan } from '../support/fault-sessions.ts';
import { FaultTeammateStats } from '../support/fault-teammate.ts';
import { startBareWorker } from '../support/fault-worker.ts';
import { FaultWorld } from '../support/fault-world.ts';

const teammate = 'worker';
const noJobs = { waiting: 0, active: 0, delayed: 0, failed: 0 };
const kib = 1024;

let world: FaultWorld;
let queues: TaskQueues;
let port: MailboxPort;

beforeEach(async () => {
  world = await FaultWorld.open();
  queues = new TaskQueues(world.handle);
  const { owner = '', ownerProof } = await world.teammateSettings(teammate);
  port = world.mailbox.port(world.team, teammate, { owner, ownerProof });
});
afterEach(async () => {
  await queues.close();
  await world.close();
});

describe('parked plans', () => {
  const atTeammate = atScale(600, 20_000);
  /** Its connections are open after so many, and most of its code is compiled. */
  const warmUp = 200;
  /** Timers of what the process does at intervals, of whatever of it runs while it is counted. */
  const inFlight = 4;
  /** What is compiled later, and for each plan where the teammate's journal has it (TM-17). */
  const maxHeapGrowth = kib * kib + atTeammate * 0.5 * kib;

  it(
    `[I7] [TM-5] ${atTeammate} of them hold no job, timer or connection of the teammate's process, and its memory stays flat`,
    async () => {
      const process = await world.startTeammate(await world.teammateSettings(teammate, { concurrency: 16 }));
      await parkAtTeammate(0, warmUp);
      const before = await statsOf(process, 'before');
      const connections = await connectionCount();
      await parkAtTeammate(warmUp, warmUp + atTeammate);
      const after = await statsOf(process, 'after');

      expect(await queues.counts(world.team, teammate)).toEqual(noJobs);
      expect(await connectionCount()).toBe(connections);
      expect(growthOf(before.resources, after.resources)).toBeLessThanOrEqual(inFlight);
      const [heap, resident] = [after.heapBytes - before.heapBytes, after.rssBytes - before.rssBytes];
      reportMeasured(
        `${atTeammate} more parked plans: ${heap} bytes more heap and ${resident} more resident at the teammate`,
      );
      expect(heap).toBeLessThan(maxHeapGrowth);
      expect(resident).toBeLessThan(maxHeapGrowth + 24 * kib * kib);
    },
    faultTestTimeoutMs,
  );

  const count = atScale(3000, 20_000);
  const survivors = Math.round(count * 0.03);

  it(
    `[TM-42] ${count} of them cost Redis at most 2 KiB and 0.5 KiB of history each beyond the plan, and the ${survivors} that are left after 97 % were decided, done and purged cost no more`,
    async () => {
      // The team's keys are there, the scripts known and the tables of a size.
      await finish(await parkAll(200));
      await purgeSettled(200);
      const empty = await measureMemory(world.handle, world.team);
      const parked = await parkAll(count);
      const full = await measureMemory(world.handle, world.team);
      expectWithinBounds('parked', { before: empty, after: full, plans: parked });
      expect(await queues.counts(world.team, teammate)).toEqual(noJobs);

      await finish(parked.slice(survivors));
      await purgeSettled(parked.length - survivors);
      expect(await queues.counts(world.team, teammate)).toEqual(noJobs);
      // Its history is kept for longer and is not the survivors': without it, they are what is measured.
      await world.handle.redis.del(keyOf(world.team, 'events'), keyOf(world.team, 'audit'));
      const thinned = await measureMemory(world.handle, world.team);
      const bare = { used: empty.used - empty.history, history: 0 };
      const left = parked.slice(0, survivors);
      expectWithinBounds('left over', { before: bare, after: thinned, plans: left, slack: lazyBytes });
    },
    faultTestTimeoutMs,
  );
});

/** Redis keeps tables of up to ten times the size that their entries need, and buffers: the same for any number. */
const lazyBytes = 256 * kib;

/** Has the teammate's process plan and park tasks number `from` to `to`. */
async function parkAtTeammate(from: number, to: number): Promise<void> {
  const { team, handle, dataDir } = world;
  const cwd = join(dataDir, 'empty');
  await mkdir(cwd, { recursive: true });
  for (let number = from; number < to; number += 1)
    await queues.enqueueTask(team, teammate, { task: `task ${number}`, team, cwd, agent: 'cheap' });
  const isParked = async () =>
    (await handle.redis.zcard(keyOf(team, 'pending'))) === to &&
    (await queues.counts(team, teammate)).active === 0;
  await eventually(isParked, { withinMs: faultTestTimeoutMs, everyMs: 50, what: `${to} parked plans` });
}

async function statsOf(process: FaultProcess, word: string): Promise<FaultTeammateStats> {
  process.tell(`stats ${word}`);
  return process.untilSaid((line) =>
    line.startsWith(`{"stats":"${word}"`) ? FaultTeammateStats.parse(JSON.parse(line)) : undefined,
  );
}

/** How many more resources keep a process alive, of the kind that grew most. */
function growthOf(before: Record<string, number>, after: Record<string, number>): number {
  return Math.max(...Object.entries(after).map(([kind, count]) => count - (before[kind] ?? 0)));
}

async function connectionCount(): Promise<number> {
  const clients = String(await world.handle.redis.client('LIST'));
  return clients.trim().split('\n').length;
}

async function parkAll(count: number): Promise<ParkedPlan[]> {
  const parked: ParkedPlan[] = [];
  await inParallel(count, 32, async (number) => {
    parked.push(await parkPlan(port, number));
  });
  return parked;
}

/** Approves them and does their work, by jobs as ever: what a job leaves behind counts too. */
async function finish(plans: ParkedPlan[]): Promise<void> {
  const { team, handle, mailbox } = world;
  const relay = new OutboxRelay({ handle, queues, teams: mailbox.teams });
  let worked = 0;
  const worker = startBareWorker({
    handle,
    port,
    concurrency: 32,
    onWork: () => {
      worked += 1;
    },
  });
  relay.start();
  await inParallel(plans.length, 32, async (number) => approve(plans[number]?.requestId ?? ''));
  const isDone = async () =>
    worked === plans.length && (await handle.redis.xlen(keyOf(team, 'outbox'))) === 0;
  await eventually(isDone, {
    withinMs: faultTestTimeoutMs,
    everyMs: 50,
    what: `${plans.length} pieces of work`,
  });
  await relay.close();
  await worker.close();
}

async function approve(requestId: string): Promise<void> {
  const { team, mailbox, keyRing } = world;
  const record = await mailbox.requests.get(team, requestId);
  if (!record) throw new Error(`${requestId} is lost`);
  const { kind } = await decideRequest(
    { requests: mailbox.requests, signer: await keyRing.activeSigner() },
    {
      team,
      record,
      outcome: 'approved',
      planDigest: record.plan.digest,
      permissionMode: 'acceptEdits',
      context: 'keep',
      decidedBy: 'local:ada',
      notAfterMs: 60 * 60 * 1000,
      policyDigest: record.policyDigest,
      notices: [],
    },
  );
  expect(kind).toBe('decided');
}

async function purgeSettled(expected: number): Promise<void> {
  const { requests } = createMailbox(world.handle, { retentionMs: 1 });
  let purged = 0;
  await eventually(
    async () => {
      purged += await requests.purge(world.team, 500);
      return purged === expected;
    },
    { withinMs: faultTestTimeoutMs, what: `${expected} purged requests` },
  );
}

interface Comparison {
  before: MemoryUse;
  after: MemoryUse;
  plans: ParkedPlan[];
  /** What all of them together may cost beside. */
  slack?: number;
}

function expectWithinBounds(what: string, { before, after, plans, slack = 0 }: Comparison): void {
  const planBytes = plans.reduce((sum, plan) => sum + Buffer.byteLength(plan.planContent), 0);
  const history = after.history - before.history;
  const records = after.used - before.used - history - planBytes;
  const each = (bytes: number) => Math.round(bytes / plans.length);
  reportMeasured(
    `${plans.length} plans ${what}: ${each(records)} bytes each beyond ${each(planBytes)} of plan, and ${each(history)} of history`,
  );
  expect(records).toBeLessThan(plans.length * 2 * kib + slack);
  expect(history).toBeLessThan(plans.length * 0.5 * kib);
}
