import { readFile } from 'node:fs/promises';
import { digestOfText } from '@placet/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';

let redis: TestRedis;
let world: TeammateWorld;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  world = await TeammateWorld.open(redis.url);
});
afterEach(() => world.close());

const queue = () => world.queues.counts(world.team, world.name);
const idle = () =>
  eventually(async () => ((await queue()).active === 0 ? true : undefined), { what: 'an idle queue' });

describe('the way of a plan', () => {
  it('[TM-2, TM-4, TM-7, TM-11, TM-16] goes from the task to a commit on a branch, under the mode that was granted', async () => {
    await world.teammate();
    const sessionId = await world.task({ task: 'Write the file' });
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    const head = await world.git('rev-parse', 'HEAD');
    expect(request).toMatchObject({
      state: 'pending',
      revision: 1,
      sessionId,
      summary: 'Write the file',
      workspace: { cwd: world.repository, head, task: digestOfText('Write the file'), agent: 'codemod' },
    });

    await world.lead.decide(request, { permissionMode: 'acceptEdits' });
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:done.txt`)).toBe('acceptEdits');
    expect(await world.git('log', '-1', '--format=%an%n%B', branch)).toContain(
      `Placet-Request: ${request.requestId}`,
    );
    expect(await world.git('rev-parse', `${branch}~1`)).toBe(head);
    expect(await world.git('status', '--porcelain')).toBe('');
    expect(await world.request(request.requestId)).toMatchObject({
      work: { state: 'done', effectiveMode: 'acceptEdits' },
      delivery: { deliveredAt: expect.any(String) },
    });
    expect(
      await world.git('worktree', 'list', '--porcelain').then((list) => list.match(/^worktree /gm)),
    ).toHaveLength(1);
  });

  it('[TM-5, I7] waits without a job', async () => {
    await world.teammate();
    const sessionId = await world.task();
    await world.untilPhase(sessionId, 'awaiting_approval');
    await idle();

    expect(await queue()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
  });

  it('[TM-5] is woken by a decision that lands before the planning job has ended', async () => {
    await world.teammate({
      checkpoint: async (name, sessionId) => {
        if (name !== 'plan-submitted') return;
        const request = await world.untilPlanned(sessionId);
        await world.lead.decide(request);
        // Its wake-up is in the queue before the planning job lets go.
        await eventually(async () => ((await queue()).waiting > 0 ? true : undefined));
      },
    });
    const sessionId = await world.task();

    expect(await world.untilPhase(sessionId, 'done')).toMatchObject({ epoch: 2 });
  });

  it('[TM-5] is woken by a decision that fell while every worker was down', async () => {
    const first = await world.teammate();
    const sessionId = await world.task();
    await world.untilPhase(sessionId, 'awaiting_approval');
    await first.close();
    await world.lead.decide(await world.untilPlanned(sessionId));
    await world.teammate();

    await world.untilPhase(sessionId, 'done');
  });

  it('[TM-7, PM-76] plans again with the feedback, superseding, and does only what was approved in the end', async () => {
    world.agent('codemod', {
      plan: 'printf "# Plan %s\\n" "$PLACET_REVISION" > "$PLACET_PLAN_FILE"; [ -z "$PLACET_FEEDBACK_FILE" ] || cat "$PLACET_FEEDBACK_FILE" >> "$PLACET_PLAN_FILE"',
      implement: 'cp "$PLACET_PLAN_FILE" plan.txt',
    });
    await world.teammate();
    const sessionId = await world.task();
    const first = await world.untilPlanned(sessionId);
    await world.lead.decide(first, { outcome: 'rejected', permissionMode: null, feedback: 'skip docs/' });
    const second = await world.untilPlanned(sessionId, 2);
    expect(second).toMatchObject({ supersedes: first.requestId, revision: 2, state: 'pending' });
    await world.lead.decide(second, { outcome: 'rejected', permissionMode: null, feedback: 'and the tests' });
    const third = await world.untilPlanned(sessionId, 3);
    await world.lead.decide(third);
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:plan.txt`)).toBe('# Plan 3\nskip docs/\n\nand the tests');
    expect(await world.request(first.requestId)).toMatchObject({
      state: 'rejected',
      work: { state: 'none' },
    });
  });

  it('[TM-7] ends as failed when the revisions are used up', async () => {
    await world.teammate({ settings: { maxRevisions: 2 } });
    const sessionId = await world.task();
    for (const revision of [1, 2]) {
      const request = await world.untilPlanned(sessionId, revision);
      await world.lead.decide(request, { outcome: 'rejected', permissionMode: null, feedback: 'no' });
    }

    expect(await world.untilPhase(sessionId, 'failed')).toMatchObject({
      reason: 'revisions_exhausted',
      revision: 2,
    });
  });

  it('[TM-7] ends as failed at the deadline, and plans again when it is resumed', async () => {
    await world.teammate();
    const sessionId = await world.task({ deadlineMs: 1000 });
    const request = await world.untilPlanned(sessionId);
    await eventually(async () => (await world.request(request.requestId))?.state === 'timeout');

    expect(await world.untilPhase(sessionId, 'failed')).toMatchObject({ reason: 'plan_timeout' });
    await idle();
    await world.queues.enqueueResume(world.team, world.name, sessionId);
    const again = await world.untilPlanned(sessionId, 2);
    expect(again.state).toBe('pending');
  });

  it.each([
    ['teleport', 'teleported'],
    ['withdraw', 'withdrawn'],
  ] as const)('[TM-7] ends by %s as %s', async (way, phase) => {
    await world.teammate();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    if (way === 'teleport') await world.lead.decide(request, { outcome: 'teleport', permissionMode: null });
    else
      await world.lead.mailbox.requests.withdraw({
        team: world.team,
        teammate: world.name,
        requestId: request.requestId,
      });

    await world.untilPhase(sessionId, phase);
    expect(await world.git('branch', '--list', 'placet/*')).toBe('');
  });

  it('[PM-79, PM-73] works by the plan as the lead edited it', async () => {
    world.agent('codemod', { implement: 'cp "$PLACET_PLAN_FILE" plan.txt' });
    await world.teammate();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    const edited = '# Less\n';
    await world.lead.decide(request, { approvedPlan: Buffer.from(edited) });
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:plan.txt`)).toBe(edited.trim());
    expect(await readFile(request.plan.path, 'utf8')).toBe(edited);
  });

  it('[TM-3] without a plan sends nothing', async () => {
    world.agent('codemod', { plan: 'true' });
    await world.teammate();
    const sessionId = await world.task();

    expect(await world.untilPhase(sessionId, 'failed')).toMatchObject({
      reason: 'plan_required',
      revision: 0,
    });
    expect(await world.lead.mailbox.inboxes.read(world.team, 'team-lead', { limit: 10 })).toEqual([]);
  });

  it('[TM-2] is kept apart from what the agent may not see: its environment is made for it', async () => {
    world.agent('codemod', { plan: 'env > "$PLACET_PLAN_FILE"' });
    await world.teammate({
      environment: { PATH: process.env.PATH, HOME: '/home/x', SECRET: 'hidden', PLACET_TOKEN: 'plt_x' },
    });
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    const plan = await readFile(request.plan.path, 'utf8');

    expect(plan).not.toMatch(/SECRET|PLACET_TOKEN/);
    expect(plan).toMatch(/^PLACET_PHASE=plan$/m);
    expect(plan).toMatch(/^PLACET_PERMISSION_MODE=plan$/m);
    expect(plan).toMatch(/^PLACET_TASK=Do the work$/m);
    expect(request.plan.path.startsWith(world.dataDir)).toBe(true);
  });

  it('[TM-1, TM-14] is served by several processes of one name, each task by one of them, and each says that jobs move', async () => {
    const teammates = await Promise.all(Array.from({ length: 3 }, () => world.teammate({ concurrency: 2 })));
    const sessionIds = await Promise.all(
      Array.from({ length: 8 }, (_, at) => world.task({ task: `Task ${at}` })),
    );
    await Promise.all(
      sessionIds.map(async (sessionId) => {
        await world.lead.decide(await world.untilPlanned(sessionId));
        await world.untilPublished(sessionId);
      }),
    );
    const { events } = await world.lead.mailbox.events.read(world.team, undefined, 1000);

    expect(events.filter(({ type, state }) => type === 'work' && state === 'done')).toHaveLength(8);
    expect((await world.git('branch', '--list', 'placet/*')).split('\n')).toHaveLength(8);
    for (const teammate of teammates) {
      const { running, lastMovedAtMs = 0 } = teammate.health();
      expect(running && lastMovedAtMs > 0).toBe(true);
    }
  });

  it('[TM-16] is put off while another process has the session, and goes on when that lets go', async () => {
    const first = await world.teammate();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    await first.close();
    const name = { team: world.team, teammate: world.name, sessionId };
    const held = await world.lead.mailbox.tasks.hold(name, 'another', 60_000);
    if (held.kind !== 'held') throw new Error('the session is not free');
    await world.lead.decide(request);
    await world.teammate();
    await eventually(async () => (await queue()).delayed === 1, { what: 'a job that is put off' });
    expect((await world.request(request.requestId))?.work.state).toBe('none');
    await world.lead.mailbox.tasks.release(name, held.lease);

    await world.untilPublished(sessionId);
  });

  it('[TM-8] wakes that come twice, late or for nothing change nothing', async () => {
    await world.teammate();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    for (const wake of [50, 51]) await world.queues.enqueueWake(world.team, world.name, sessionId, wake);
    await idle();
    expect((await world.untilPlanned(sessionId)).requestId).toBe(request.requestId);
    await world.lead.decide(request);
    await world.untilPhase(sessionId, 'done');
    const before = await world.record(sessionId);
    for (const wake of [60, 61]) await world.queues.enqueueWake(world.team, world.name, sessionId, wake);
    await world.queues.enqueueWake(world.team, world.name, 'no-such-session', 1);
    await eventually(async () => {
      const { waiting, active, delayed } = await queue();
      return waiting + active + delayed === 0;
    });

    expect(await world.record(sessionId)).toMatchObject({
      phase: 'done',
      commit: before?.commit,
      branch: before?.branch,
    });
  });
});
