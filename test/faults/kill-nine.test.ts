import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keyOf, TaskQueues } from '@placet/mailbox';
import { newSessionId, type RequestRecord, type TaskRecord } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { KillableCast } from '../support/fault-cast.ts';
import { type Act, readActs } from '../support/fault-history.ts';
import { HttpCaller } from '../support/fault-http.ts';
import { decideAutomatically } from '../support/fault-lead-agent.ts';
import { relayProgram } from '../support/fault-relay.ts';
import { atScale, faultTestTimeoutMs, reportMeasured } from '../support/fault-scale.ts';
import { FaultWorld } from '../support/fault-world.ts';

const teammate = 'worker';
const taskCount = atScale(30, 100);
/** A process is killed whenever so many events more have come to the team's log. */
const eventsBetweenKills = { least: 4, most: 14 };
/** Every so many tasks the first plan is rejected. */
const rejectsEvery = 4;

/**
 * Plans; then does its work in two steps, between which it can be killed. Each file is named after the tree that it was
 * made in, which is named after the epoch.
 */
const agent = `#!/bin/sh
set -e
tree=$(basename "$PWD")
if [ "$PLACET_PHASE" = plan ]; then
  printf '# Plan %s\\n\\n%s\\n' "$PLACET_REVISION" "$PLACET_TASK" > "$PLACET_PLAN_FILE"
else
  printf 'begun in %s\\n' "$tree" > "result-of-$tree.txt"
  printf 'ended in %s by revision %s\\n' "$tree" "$PLACET_REVISION" >> "result-of-$tree.txt"
fi
`;

let world: FaultWorld;
let queues: TaskQueues;
let http: HttpCaller;
let repository: string;

beforeEach(async () => {
  world = await FaultWorld.open();
  queues = new TaskQueues(world.handle);
  http = new HttpCaller(16);
  repository = join(world.dataDir, 'repository');
  await mkdir(repository);
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(repository, 'README.md'), 'read me\n');
  await git('add', '--all');
  await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '-m', 'begin');
});
afterEach(async () => {
  http.close();
  await queues.close();
  await world.close();
});

describe('kill -9', () => {
  it(
    `[TM-8] [TM-16] [I1] [I4] of teammates, leads and relay in a loop over ${taskCount} tasks: each ends right and is settled once, under an approval, in one epoch's tree`,
    async () => {
      const cast = await openCast();
      const stop = new AbortController();
      const leading = decideAutomatically({
        world,
        http,
        token: await world.token({ principal: 'local:ada' }),
        url: () => cast.actor(Math.random() < 0.5 ? 'lead 1' : 'lead 2'),
        judge: ({ revision, labels }) =>
          labels.first === 'reject' && revision === 1
            ? { outcome: 'rejected', feedback: 'Once more.' }
            : { outcome: 'approved', permissionMode: 'acceptEdits' },
        signal: stop.signal,
      });
      leading.catch(() => undefined); // awaited below
      const sessions = await enqueueAll();
      const beganAt = performance.now();
      await killUntil(cast, () => areDone(sessions));
      reportMeasured(
        `${taskCount} tasks through ${JSON.stringify(cast.kills())} kills in ${Math.round(performance.now() - beganAt)} ms`,
      );
      await untilIdle();
      stop.abort();
      await leading;
      await cast.end();

      const acts = await readActs(world.mailbox, world.team);
      for (const [number, sessionId] of sessions.entries())
        await checkTask(sessionId, revisionsOf(number), acts);
      expect((await git('worktree', 'list')).split('\n')).toHaveLength(1);
      expect(await processesIn(world.dataDir)).toEqual([]);
    },
    faultTestTimeoutMs,
  );
});

async function openCast(): Promise<KillableCast<string>> {
  const cast = new KillableCast<string>();
  const program = join(world.dataDir, 'agent.sh');
  await writeFile(program, agent);
  await chmod(program, 0o755);
  const settings = await world.teammateSettings(teammate, {
    agents: { scripted: [program] },
    concurrency: 3,
    leaseMs: 2000,
    relays: false,
  });
  const lead = async () => {
    const { url, process } = await world.startLead();
    return { process, actor: url };
  };
  const worker = async () => ({ process: await world.startTeammate(settings), actor: '' });
  const relay = async () => {
    const { program, env } = relayProgram(world.redis.url);
    const process = world.start(program, env);
    await process.untilSaid((line) => line === 'started' || undefined);
    return { process, actor: '' };
  };
  await cast.add('lead 1', lead); // makes the team's keys
  const others = { 'teammate 1': worker, relay, 'teammate 2': worker, 'lead 2': lead };
  await Promise.all(Object.entries(others).map(([name, start]) => cast.add(name, start)));
  return cast;
}

async function enqueueAll(): Promise<string[]> {
  const sessions = Array.from({ length: taskCount }, () => newSessionId());
  for (const [number, sessionId] of sessions.entries())
    await queues.enqueueTask(
      world.team,
      teammate,
      {
        task: `Task ${number}`,
        team: world.team,
        cwd: repository,
        agent: 'scripted',
        labels: { first: revisionsOf(number) === 2 ? 'reject' : 'approve' },
      },
      sessionId,
    );
  return sessions;
}

function revisionsOf(number: number): number {
  return number % rejectsEvery === 0 ? 2 : 1;
}

/** Kills one of the cast, in turn, whenever the team's log has grown; until the condition is true. */
async function killUntil(cast: KillableCast<string>, isOver: () => Promise<boolean>): Promise<void> {
  const eventCount = async () => Number((await world.mailbox.events.last(world.team)).split('-')[0]);
  const names = cast.names();
  const { least, most } = eventsBetweenKills;
  let killAt = await eventCount();
  for (let turn = 0; ; turn += 1) {
    killAt += least + Math.floor(Math.random() * (most - least));
    const next = await eventually(
      async () => ((await isOver()) ? 'over' : (await eventCount()) >= killAt && 'kill'),
      { withinMs: faultTestTimeoutMs, everyMs: 50, what: 'progress' },
    );
    if (next === 'over') return;
    await cast.kill(names[turn % names.length] ?? '');
    killAt = await eventCount();
  }
}

async function areDone(sessions: string[]): Promise<boolean> {
  const tasks = await Promise.all(sessions.map(taskOf));
  return tasks.every((task) => {
    // Nothing that a worker is killed at is a reason to fail.
    if (task?.phase === 'failed') throw new Error(`the task ${task.sessionId} failed: ${task.reason}`);
    return task?.phase === 'done';
  });
}

function taskOf(sessionId: string): Promise<TaskRecord | undefined> {
  return world.mailbox.tasks.get({ team: world.team, teammate, sessionId });
}

/** Nothing in the queue, in the outbox or owed: every branch is published, every tree thrown away. */
async function untilIdle(): Promise<void> {
  const { handle, team } = world;
  await eventually(
    async () => {
      const { waiting, active, delayed, failed } = await queues.counts(team, teammate);
      const inOutbox = await handle.redis.xlen(keyOf(team, 'outbox'));
      const owed = await handle.redis.zcard(keyOf(team, 'due'));
      return waiting + active + delayed + failed + inOutbox + owed === 0;
    },
    { withinMs: 60_000, everyMs: 100, what: 'nothing left to do' },
  );
}

async function checkTask(sessionId: string, revisions: number, acts: Act[]): Promise<void> {
  const { requests } = await requestsOf(sessionId);
  expect(requests.map(({ revision }) => revision)).toEqual(
    Array.from({ length: revisions }, (_, at) => at + 1),
  );
  expect(requests.map(({ state }) => state)).toEqual([
    ...Array.from({ length: revisions - 1 }, () => 'rejected'),
    'approved',
  ]);
  for (const { requestId, state } of requests)
    checkActs(
      acts.filter(({ request }) => request === requestId),
      state,
    );

  const { branch = '', commit } = (await taskOf(sessionId)) ?? {};
  const { work, revision } = requests.at(-1) ?? {};
  expect(work?.state).toBe('done');
  expect(await git('rev-parse', branch)).toBe(commit);
  const files = (await git('ls-tree', '-r', '--name-only', branch)).split('\n');
  const tree = /^result-of-(placet-[0-9a-f]{12}-work-\d+)\.txt$/.exec(files.at(-1) ?? '')?.[1];
  expect(tree?.endsWith(`-work-${work?.epoch}`)).toBe(true);
  expect(files).toEqual(['README.md', `result-of-${tree}.txt`]);
  expect(await git('show', `${branch}:result-of-${tree}.txt`)).toBe(
    `begun in ${tree}\nended in ${tree} by revision ${revision}`,
  );
  expect(await git('log', '--format=%s', `main..${branch}`)).not.toContain('\n');
}

/** What the audit log says of a request: decided once, worked on only after an approval, settled once. */
function checkActs(acts: Act[], state: string): void {
  const names = acts.map(({ act }) => act);
  expect(names.slice(0, 2)).toEqual(['submitted', state]);
  expect(
    names.filter((act) => ['approved', 'rejected', 'timeout', 'superseded', 'withdrawn'].includes(act)),
  ).toEqual([state]);
  const settled = acts.filter(({ act }) => act === 'work:done' || act === 'work:failed');
  expect(settled.map(({ act }) => act)).toEqual(state === 'approved' ? ['work:done'] : []);
  if (state !== 'approved')
    expect(names.filter((act) => act === 'work:claimed' || act === 'work:applied')).toEqual([]);
}

async function requestsOf(sessionId: string): Promise<{ requests: RequestRecord[] }> {
  const all: RequestRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await world.mailbox.requests.list(world.team, { limit: 200, ...(cursor && { cursor }) });
    all.push(...page.requests);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const requests = all
    .filter((request) => request.sessionId === sessionId)
    .toSorted((a, b) => a.revision - b.revision);
  return { requests };
}

/** Processes that run a program of the folder, or in it. */
async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return command.includes(folder) || cwd.startsWith(folder)
        ? [`${pid} ${command.replaceAll('\0', ' ')}`]
        : [];
    }),
  );
  return found.flat();
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: repository });
  return stdout.trim();
}
