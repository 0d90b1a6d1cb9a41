import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { queueName, queuePrefix } from '@placet/mailbox';
import { newSessionId } from '@placet/protocol';
import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';

let redis: TestRedis;
let world: TeammateWorld;
let queue: Queue;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  world = await TeammateWorld.open(redis.url);
  queue = new Queue(queueName, {
    connection: world.lead.handle.redis,
    prefix: queuePrefix(world.team, world.name),
  });
});
afterEach(async () => {
  await queue.close();
  await world.close();
});

const good = () => ({ task: 'x', team: world.team, cwd: world.repository, agent: 'codemod' });

describe('what is written straight into the queue', () => {
  it.each<[string, (job: ReturnType<typeof good>) => object]>([
    ['no task', ({ team, cwd, agent }) => ({ team, cwd, agent })],
    ['another team', (job) => ({ ...job, team: 'another' })],
    ['an agent that is no name', (job) => ({ ...job, agent: '../../bin/sh' })],
    ['a mode that there is not', (job) => ({ ...job, permissionMode: 'root' })],
    ['a NUL character', (job) => ({ ...job, task: 'a\0b' })],
    ['a deadline of a year', (job) => ({ ...job, deadlineMs: 365 * 86_400_000 })],
    ['text for an object', () => ({ text: 'x' })],
  ])('[TM-2, I6] is refused with %s, and the lead is told', async (_what, change) => {
    await world.teammate();
    const sessionId = newSessionId();
    await queue.add('task', change(good()), { jobId: `task-${sessionId}` });
    await eventually(async () => (await world.alarms()).includes('job_invalid'));

    expect(await world.record(sessionId)).toBeUndefined();
    // The lead is told before the job itself has ended.
    const failed = await eventually(async () => (await queue.getFailed())[0]);
    expect(failed.failedReason).toContain('job_invalid');
  });

  it('[TM-2] is refused under an id that names no session, or another kind of job', async () => {
    await world.teammate();
    await queue.add('task', good(), { jobId: 'task-../../x' });
    await queue.add('decide', good(), { jobId: `task-${newSessionId()}` });
    await queue.add('wake', { sessionId: 7 }, { jobId: 'wake-7-1' });

    await eventually(async () => (await queue.getFailedCount()) === 3);
  });

  it('[TM-2] names no program: an agent that the teammate does not have fails the task', async () => {
    await world.teammate();

    expect(await world.untilPhase(await world.task({ agent: 'other' }), 'failed')).toMatchObject({
      reason: 'unknown_agent',
    });
  });

  it.each(['outside', 'above', 'by a link', 'relative', 'a file'])(
    '[TM-2] works in no folder that is %s',
    async (way) => {
      await mkdir(join(world.folder, 'root'));
      await mkdir(join(world.folder, 'outside'));
      await symlink(join(world.folder, 'outside'), join(world.folder, 'root', 'link'));
      const places: Record<string, string> = {
        outside: join(world.folder, 'outside'),
        above: join(world.folder, 'root', '..'),
        'by a link': join(world.folder, 'root', 'link'),
        relative: 'root',
        'a file': join(world.repository, 'README.md'),
      };
      await world.teammate({
        roots: [join(world.folder, 'root'), ...(way === 'a file' ? [world.repository] : [])],
      });

      expect(await world.untilPhase(await world.task({ cwd: places[way] ?? '' }), 'failed')).toMatchObject({
        reason: 'workspace_refused',
      });
      expect(await world.alarms()).toContain('workspace_refused');
    },
  );

  it('[TM-2] in a folder that is not on this machine waits for a process that has it', async () => {
    await world.teammate();
    const later = join(world.folder, 'later');
    const sessionId = await world.task({ cwd: later });
    await eventually(async () => (await queue.getDelayedCount()) === 1);
    expect((await world.record(sessionId))?.phase).toBe('planning');
    await mkdir(later);
    const [job] = await queue.getDelayed();
    await job?.promote();

    await world.untilPlanned(sessionId);
  });

  it('[TM-1, I1] cannot switch plan mode off, whatever mode it names', async () => {
    await world.teammate();
    const request = await world.untilPlanned(await world.task({ permissionMode: 'bypassPermissions' }));

    expect(request).toMatchObject({ state: 'pending', prePlanMode: 'bypassPermissions' });
    expect(await world.git('branch', '--list', 'placet/*')).toBe('');
  });

  it('[TM-10] opens nothing by a wake-up alone', async () => {
    await world.teammate();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    await queue.add(
      'wake',
      { sessionId, wake: 7, resume: true, outcome: 'approved', approved: true },
      { jobId: 'wake-x-7' },
    );
    await eventually(async () => (await queue.getActiveCount()) + (await queue.getWaitingCount()) === 0);

    expect(await world.request(request.requestId)).toMatchObject({
      state: 'pending',
      work: { state: 'none' },
    });
  });
});
