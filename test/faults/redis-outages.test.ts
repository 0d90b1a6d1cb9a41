import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TaskQueues } from '@placet/mailbox';
import { newSessionId, Problem, RequestRecord } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { gapsIn, numberOf, readActs, readAllEvents } from '../support/fault-history.ts';
import { type HttpAnswer, HttpCaller } from '../support/fault-http.ts';
import { decideAutomatically } from '../support/fault-lead-agent.ts';
import { atScale, faultTestTimeoutMs, reportMeasured } from '../support/fault-scale.ts';
import { type FaultLead, FaultWorld } from '../support/fault-world.ts';

const teammate = 'worker';
const client = 'client';
const storeTimeoutMs = 1000;
/** A call makes a few store calls in turn before it gives up; the machine may be busy. */
const answersWithinMs = 6 * storeTimeoutMs;
const lanes = 8;
const outages = atScale(2, 10);
const tasks = atScale(12, 60);
/** How many acknowledged calls lie between two outages. */
const callsBetween = 60;

let world: FaultWorld;
let queues: TaskQueues;
let http: HttpCaller;
let lead: FaultLead;

beforeEach(async () => {
  world = await FaultWorld.open();
  queues = new TaskQueues(world.handle);
  http = new HttpCaller(2 * lanes);
  lead = await world.startLead({ PLACET_STORE_TIMEOUT_MS: String(storeTimeoutMs) });
});
afterEach(async () => {
  http.close();
  await queues.close();
  await world.close();
});

/** What a lane was told. */
interface Acknowledged {
  submitted: RequestRecord[];
  decided: RequestRecord[];
  calls: number;
  refused: { code: string; ms: number }[];
}

describe('a Redis that is killed, hangs and comes back while everything works', () => {
  it(
    `[I4] [OP-6] [WR-30] through ${outages} kills and ${outages} hangs nothing acknowledged is lost, refusals come in time, and ${tasks} tasks end right`,
    async () => {
      const cwd = join(world.dataDir, 'empty');
      await mkdir(cwd);
      await world.startTeammate(await world.teammateSettings(teammate, { concurrency: 4, leaseMs: 2000 }));
      const sessions = Array.from({ length: tasks }, () => newSessionId());
      for (const sessionId of sessions)
        await queues.enqueueTask(
          world.team,
          teammate,
          { task: sessionId, team: world.team, cwd, agent: 'cheap' },
          sessionId,
        );
      const stop = new AbortController();
      const told: Acknowledged = { submitted: [], decided: [], calls: 0, refused: [] };
      const token = await world.token({ principal: 'local:ada' });
      const load = Array.from({ length: lanes }, async () => keepCalling(told, token, stop.signal));
      await haveOutages(told);
      stop.abort();
      await Promise.all(load);
      for (const record of told.submitted)
        expect(await world.mailbox.requests.get(world.team, record.requestId)).toBeDefined();
      for (const { requestId, state, decision } of told.decided)
        expect(await world.mailbox.requests.get(world.team, requestId)).toMatchObject({ state, decision });
      const leading = new AbortController();
      const judge = () => ({ outcome: 'approved', permissionMode: 'acceptEdits' });
      const url = () => Promise.resolve(lead.url);
      const deciding = decideAutomatically({ world, http, token, url, judge, signal: leading.signal });
      await eventually(() => areDone(sessions), {
        withinMs: faultTestTimeoutMs,
        everyMs: 100,
        what: 'done tasks',
      });
      leading.abort();
      await deciding;

      reportMeasured(
        `${told.calls} acknowledged calls and ${told.refused.length} refused ones, the slowest after ${Math.round(Math.max(0, ...told.refused.map(({ ms }) => ms)))} ms`,
      );
      expect(new Set(told.refused.map(({ code }) => code))).toEqual(new Set(['store_unavailable']));
      expect(told.refused.filter(({ ms }) => ms > answersWithinMs)).toEqual([]);
      await checkHistory(told, sessions);
    },
    faultTestTimeoutMs,
  );
});

/** Submits and decides, one request after the other, and keeps what was acknowledged. What was refused is repeated. */
async function keepCalling(told: Acknowledged, token: string, signal: AbortSignal): Promise<void> {
  const sender = await world.teammateToken(client);
  const until = async (call: () => Promise<HttpAnswer>): Promise<RequestRecord | undefined> => {
    while (!signal.aborted) {
      const began = performance.now();
      const answer = await call();
      if (answer.status < 300) {
        told.calls += 1;
        return RequestRecord.parse(JSON.parse(answer.text));
      }
      told.refused.push({ code: Problem.parse(JSON.parse(answer.text)).code, ms: performance.now() - began });
      await pause(20);
    }
    return undefined;
  };
  for (let number = 0; !signal.aborted; number += 1) {
    const body = world.submission(client, `# Plan ${number}\n`);
    const submitted = await until(() => http.post(world.requestUrl(lead), { token: sender, body }));
    if (!submitted) return;
    told.submitted.push(submitted);
    const decision = {
      outcome: 'approved',
      planDigest: submitted.plan.digest,
      permissionMode: 'acceptEdits',
    };
    const url = world.requestUrl(lead, submitted.requestId, '/decision');
    const decided = await until(() => http.post(url, { token, body: decision }));
    if (decided) told.decided.push(decided);
  }
}

async function haveOutages(told: Acknowledged): Promise<void> {
  const untilCalls = async (more: number) => {
    const target = told.calls + more;
    await eventually(() => told.calls >= target, { withinMs: 60_000, what: 'acknowledged calls' });
  };
  const untilRefused = async () => {
    const before = told.refused.length;
    await eventually(() => told.refused.length >= before + lanes, {
      withinMs: 60_000,
      what: 'refused calls',
    });
  };
  for (let outage = 0; outage < outages; outage += 1) {
    await untilCalls(callsBetween);
    await world.redis.kill9();
    await untilRefused();
    await world.redis.restart();
    await untilCalls(callsBetween);
    world.redis.pause();
    await untilRefused();
    world.redis.resume();
  }
  await untilCalls(callsBetween);
}

async function areDone(sessions: string[]): Promise<boolean> {
  const found = await Promise.all(
    sessions.map((sessionId) => world.mailbox.tasks.get({ team: world.team, teammate, sessionId })),
  );
  return found.every((task) => task?.phase === 'done');
}

async function checkHistory({ decided }: Acknowledged, sessions: string[]): Promise<void> {
  const acts = await readActs(world.mailbox, world.team);
  expect(gapsIn(acts.map(({ seq }) => seq))).toEqual([]);
  expect(gapsIn((await readAllEvents(world.mailbox, world.team)).map(numberOf))).toEqual([]);
  const timesOf = (name: string) => {
    const times = new Map<string, number>();
    for (const { act, request = '' } of acts)
      if (act === name) times.set(request, (times.get(request) ?? 0) + 1);
    return times;
  };
  const approved = timesOf('approved');
  expect([...approved.values()].filter((times) => times !== 1)).toEqual([]);
  for (const { requestId } of decided) expect(approved.has(requestId)).toBe(true);
  const done = timesOf('work:done');
  expect([...done.values()]).toEqual(sessions.map(() => 1));
}
