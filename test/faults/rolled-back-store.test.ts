import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskQueues } from '@placet/mailbox';
import { newSessionId, type RequestRecord } from '@placet/protocol';
import type { Checkpoint } from '@placet/teammate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { Forger } from '../support/fault-forger.ts';
import { readAllEvents } from '../support/fault-history.ts';
import type { FaultTeammateSettings } from '../support/fault-teammate.ts';
import { FaultWorld } from '../support/fault-world.ts';

const teammate = 'worker';
const patience = { withinMs: 40_000 };
let world: FaultWorld;
let queues: TaskQueues;
let forger: Forger;
let settings: Partial<FaultTeammateSettings>;

beforeEach(async () => {
  world = await FaultWorld.open(['--auto-aof-rewrite-percentage', '0']);
  queues = new TaskQueues(world.handle);
  forger = new Forger(world, queues);
  await mkdir(join(world.dataDir, 'empty'));
  settings = await world.teammateSettings(teammate, { leaseMs: 1500 });
});
afterEach(async () => {
  await queues.close();
  await world.close();
});

describe('a store that was put back to what it was before the work was settled', () => {
  it.each<[string, Checkpoint | undefined]>([
    ['before it was begun', undefined],
    ['after it was claimed', 'work-claimed'],
    ['after the gate was opened', 'work-applied'],
  ])('[IN-3] [TM-17] [I4] does not have it done again: %s', async (_when, killAt) => {
    const { request, copy } = await copyWhile(killAt);
    await world.startTeammate(settings);
    const done = await eventually(async () => {
      const record = await read(request);
      return record?.work.state === 'done' && record;
    }, patience);
    await untilNothingIsQueued();
    const worked = await timesWorkedOn(request);
    const events = (await readAllEvents(world.mailbox, world.team)).length;

    await putBack(copy);
    // Not what stood there at the end: the store has forgotten it.
    expect((await read(request))?.work.state).not.toBe('done');
    expect((await readAllEvents(world.mailbox, world.team)).length).toBeLessThan(events);
    await forger.wake(request);
    await eventually(async () => (await alarmsOf(request)).includes('decision_invalid'), {
      ...patience,
      what: 'an alarm',
    });
    await untilNothingIsQueued();
    expect(await timesWorkedOn(request)).toBe(worked);
    expect((await read(request))?.work.state).not.toBe('done');
    expect(done.decision?.signature).toBe((await read(request))?.decision?.signature);
  });
});

/**
 * Has a plan approved while nobody works, or has a worker begin and kills it at a step, and copies the store's files as
 * they are then.
 */
async function copyWhile(killAt: Checkpoint | undefined): Promise<{ request: RequestRecord; copy: string }> {
  const planner = await world.startTeammate(settings);
  const sessionId = newSessionId();
  const job = { task: 'a task', team: world.team, cwd: join(world.dataDir, 'empty'), agent: 'cheap' };
  await queues.enqueueTask(world.team, teammate, job, sessionId);
  const request = await eventually(async () => {
    const task = await world.mailbox.tasks.get({ team: world.team, teammate, sessionId });
    return task?.requestId === undefined ? undefined : world.mailbox.requests.get(world.team, task.requestId);
  }, patience);
  await untilNothingIsQueued();
  await planner.stop();
  await forger.put(request, await forger.genuine(request));
  await forger.wake(request);
  if (killAt) {
    const doomed = await world.startTeammate({ ...settings, killAt });
    await eventually(() => doomed.ending === 'SIGKILL', patience);
  }
  const copy = join(world.dataDir, 'copy');
  await cp(join(world.redis.dir, 'appendonlydir'), copy, { recursive: true });
  return { request, copy };
}

/** Ends the server as a failing machine does, and starts it on the files of before. */
async function putBack(copy: string): Promise<void> {
  await world.redis.kill9();
  const files = join(world.redis.dir, 'appendonlydir');
  await rm(files, { recursive: true });
  await cp(copy, files, { recursive: true });
  await world.redis.restart();
  await world.handle.ready();
}

function read({ requestId }: RequestRecord): Promise<RequestRecord | undefined> {
  return world.mailbox.requests.get(world.team, requestId);
}

async function timesWorkedOn({ sessionId }: RequestRecord): Promise<number> {
  const lines = (await readFile(settings.workLog ?? '', 'utf8').catch(() => '')).split('\n');
  return lines.filter((line) => line.startsWith(sessionId)).length;
}

async function alarmsOf({ requestId }: RequestRecord): Promise<unknown[]> {
  const events = await readAllEvents(world.mailbox, world.team);
  return events.flatMap((event) =>
    event.type === 'alarm' && event.requestId === requestId ? [event.code] : [],
  );
}

async function untilNothingIsQueued(): Promise<void> {
  await eventually(
    async () => {
      const { waiting, active, delayed } = await queues.counts(world.team, teammate);
      return waiting + active + delayed === 0;
    },
    { ...patience, what: 'an empty queue' },
  );
}
