import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keyOf, type MailboxPort, TaskQueues } from '@placet/mailbox';
import { digestOfText, newSessionId } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../support/eventually.ts';
import { readActs } from '../support/fault-history.ts';
import { HttpCaller } from '../support/fault-http.ts';
import { atScale, faultTestTimeoutMs, reportMeasured } from '../support/fault-scale.ts';
import { inParallel, jobOf, type ParkedPlan } from '../support/fault-sessions.ts';
import { startBareWorker } from '../support/fault-worker.ts';
import { type FaultLead, FaultWorld } from '../support/fault-world.ts';

const Proposed = z.looseObject({ requestId: z.string(), planDigest: z.string() });
const teammate = 'worker';
/** A decision is sent after a submission by at most so much. */
const maxPauseMs = 5;
/** Tasks that are under way at once, so that wake-ups do not stand in line behind other tasks' plans. */
const atOnce = 48;

let world: FaultWorld;
let queues: TaskQueues;
let lead: FaultLead;
let http: HttpCaller;
let token: string;
let port: MailboxPort;

beforeEach(async () => {
  world = await FaultWorld.open();
  queues = new TaskQueues(world.handle);
  lead = await world.startLead();
  http = new HttpCaller(atOnce);
  token = await world.token();
  const { owner = '', ownerProof } = await world.teammateSettings(teammate);
  port = world.mailbox.port(world.team, teammate, { owner, ownerProof });
});
afterEach(async () => {
  http.close();
  await queues.close();
  await world.close();
});

describe('a decision right after the submission', () => {
  const bare = atScale(2000, 2000);

  it(
    `[TM-5] [I4] 0 to ${maxPauseMs} ms after each of ${bare} of them, before the planning job has ended: every task wakes, and is worked on once`,
    async () => {
      const decisions: Promise<void>[] = [];
      const worked = new Map<string, number>();
      const done = new Map<string, () => void>();
      const metBusy = new Map<string, () => void>();
      let duringPlanning = 0;
      const options = {
        handle: world.handle,
        port,
        concurrency: 16,
        onSubmitted: async ({ sessionId, requestId, planContent }: ParkedPlan) => {
          const isMet = new Promise<void>((resolve) => metBusy.set(sessionId, resolve));
          decisions.push(decideAfter(Math.random() * maxPauseMs, requestId, digestOfText(planContent)));
          // Some planning jobs take so long to end that the wake-up finds their session held.
          if (decisions.length % 10 === 0) await isMet;
        },
        onBusy: (sessionId: string) => {
          duringPlanning += 1;
          metBusy.get(sessionId)?.();
        },
        onWork: (sessionId: string) => {
          worked.set(sessionId, (worked.get(sessionId) ?? 0) + 1);
          done.get(sessionId)?.();
        },
      };
      const workers = [startBareWorker(options), startBareWorker(options)];
      const beganAt = performance.now();
      const sessions: string[] = [];
      await inParallel(bare, atOnce, async (number) => {
        const sessionId = newSessionId();
        sessions.push(sessionId);
        const isWorkedOn = new Promise<void>((resolve) => done.set(sessionId, resolve));
        await queues.enqueueTask(world.team, teammate, jobOf(port, number), sessionId);
        await isWorkedOn;
      });
      await Promise.all(decisions);
      await untilIdle();
      reportMeasured(
        `${bare} decisions right after their submission: all woken in ${Math.round(performance.now() - beganAt)} ms, ${duringPlanning} wake-ups came while the plan was still being parked`,
      );
      await Promise.all(workers.map((worker) => worker.close()));

      expect(worked.size).toBe(bare);
      expect([...worked.values()].filter((times) => times !== 1)).toEqual([]);
      expect(duringPlanning).toBeGreaterThanOrEqual(bare / 10);
      await checkWakes(sessions);
      await checkActs(bare);
    },
    faultTestTimeoutMs,
  );

  const real = atScale(60, 500);

  it(
    `[TM-5] [I4] right after each of ${real} of them, at two processes of a real teammate: every task wakes, and is worked on once`,
    async () => {
      const cwd = join(world.dataDir, 'empty');
      await mkdir(cwd);
      const settings = await world.teammateSettings(teammate, { concurrency: 6, relays: false });
      await Promise.all([world.startTeammate(settings), world.startTeammate(settings)]);
      const stop = new AbortController();
      const deciding = decideAtOnce(stop.signal);
      const sessions = Array.from({ length: real }, () => newSessionId());
      for (const sessionId of sessions)
        await queues.enqueueTask(
          world.team,
          teammate,
          { task: `task of ${sessionId}`, team: world.team, cwd, agent: 'cheap' },
          sessionId,
        );
      await eventually(async () => (await doneCount()) === real, {
        withinMs: faultTestTimeoutMs,
        everyMs: 100,
        what: `${real} tasks done`,
      });
      await untilIdle();
      stop.abort();
      await deciding;

      const lines = (await readFile(settings.workLog ?? '', 'utf8')).trim().split('\n');
      expect(new Set(lines.map((line) => line.split(' ')[0]))).toEqual(new Set(sessions));
      expect(lines).toHaveLength(real);
      await checkActs(real);
    },
    faultTestTimeoutMs,
  );
});

async function decideAfter(pauseMs: number, requestId: string, planDigest: string): Promise<void> {
  await pause(pauseMs);
  const body = { outcome: 'approved', planDigest, permissionMode: 'acceptEdits' };
  const answer = await http.post(world.requestUrl(lead, requestId, '/decision'), { token, body });
  expect(answer.status, answer.text).toBe(200);
}

/** Approves each plan the moment that its event is there. */
async function decideAtOnce(signal: AbortSignal): Promise<void> {
  const decisions: Promise<void>[] = [];
  for await (const item of world.mailbox.hub.subscribe(world.team, '0-0', signal)) {
    if (item.kind !== 'event' || item.event.type !== 'plan:proposed') continue;
    const { requestId, planDigest } = Proposed.parse(item.event);
    decisions.push(decideAfter(0, requestId, planDigest));
  }
  await Promise.all(decisions);
}

async function doneCount(): Promise<number> {
  return (await readActs(world.mailbox, world.team)).filter(({ act }) => act === 'work:done').length;
}

/** Nothing is in the queue, in the outbox or owed. */
async function untilIdle(): Promise<void> {
  const { handle, team } = world;
  await eventually(
    async () => {
      const { waiting, active, delayed, failed } = await queues.counts(team, teammate);
      const inOutbox = await handle.redis.xlen(keyOf(team, 'outbox'));
      const owed = await handle.redis.zcard(keyOf(team, 'due'));
      return waiting + active + delayed + failed + inOutbox + owed === 0;
    },
    { withinMs: 30_000, everyMs: 50, what: 'nothing left to do' },
  );
}

/** One wake-up each: the decision's, and none of the reconciler's. */
async function checkWakes(sessions: string[]): Promise<void> {
  const wakes = await Promise.all(
    sessions.map((sessionId) =>
      world.handle.redis.hget(keyOf(world.team, 'session', teammate, sessionId), 'wk'),
    ),
  );
  expect(wakes.filter((wake) => wake !== '1')).toEqual([]);
}

/** Each request was submitted, approved, claimed and settled once, in that order. */
async function checkActs(count: number): Promise<void> {
  const acts = new Map<string, string[]>();
  for (const { act, request = '' } of await readActs(world.mailbox, world.team))
    acts.set(request, [...(acts.get(request) ?? []), act]);
  expect(acts.size).toBe(count);
  const order = ['submitted', 'approved', 'work:delivered', 'work:claimed', 'work:applied', 'work:done'];
  const known = new Set([...acts.values()].map((done) => done.toSorted().join()));
  expect([...known]).toEqual([order.toSorted().join()]);
  for (const done of acts.values())
    expect(order.filter((act) => act !== 'work:delivered')).toEqual(
      done.filter((act) => act !== 'work:delivered'),
    );
}
