import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';

let redis: OwnRedis;
let world: TeammateWorld;

beforeEach(async () => {
  redis = await startOwnRedis();
  world = await TeammateWorld.open(redis.url);
});
afterEach(async () => {
  await world.close();
  await redis.stop();
});

const queue = () => world.queues.counts(world.team, world.name);

describe('a store that is away', () => {
  it('[TM-4, I6] leaves the plan file, and the plan is submitted under the same ID once it is back', async () => {
    let intended = '';
    const ids: string[] = [];
    await world.teammate({
      checkpoint: async (name, sessionId) => {
        if (name !== 'intent-recorded') return;
        const task = await world.record(sessionId);
        intended = task?.intent?.requestId ?? '';
        await redis.kill9();
      },
    });
    const sessionId = await world.task();
    await eventually(() => world.logged.some(({ message }) => message.startsWith('plan not submitted')), {
      what: 'a plan that is not submitted',
    });
    expect(await world.git('branch', '--list', 'placet/*')).toBe('');
    await redis.restart();
    await world.lead.handle.ready();
    const request = await world.untilPlanned(sessionId);
    const { requests } = await world.lead.mailbox.requests.list(world.team, { limit: 10 });
    ids.push(...requests.map(({ requestId }) => requestId));

    expect(request.requestId).toBe(intended);
    expect(ids).toEqual([intended]);
    expect(await readFile(request.plan.path, 'utf8')).toContain('# Plan');
    await world.lead.decide(request);
    await world.untilPublished(sessionId);
  });

  it('[OP-6, TM-5] at the start is waited for, and in the middle of a wait nothing is lost', async () => {
    await redis.kill9();
    await world.teammate();
    await redis.restart();
    await world.lead.handle.ready();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    await redis.kill9();
    await redis.restart();
    await world.lead.handle.ready();
    await world.lead.decide(request);

    await world.untilPublished(sessionId);
  });

  it('[TM-16, I6] ends an agent whose session may be in other hands, and settles nothing for it', async () => {
    world.agent('codemod', { implement: 'echo begun >> done.txt; sleep 3; echo ended >> done.txt' });
    await world.teammate({ settings: { leaseMs: 1000 } });
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.lead.decide(request);
    await eventually(async () => (await world.request(request.requestId))?.work.state === 'applied');
    redis.pause();
    await eventually(
      () => world.logged.some(({ message }) => message.includes('lease of the session is lost')),
      {
        what: 'the loss of the lease',
      },
    );
    redis.resume();
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:done.txt`)).toBe('begun\nended');
    expect((await world.request(request.requestId))?.work.epoch).toBeGreaterThan(2);
  });
});

describe('a store that would lose what it is told', () => {
  it('[TM-14] is refused at the start', async () => {
    await world.lead.handle.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');

    await expect(world.process()).rejects.toThrow('noeviction');
  });
});

describe('a process that is told to stop', () => {
  it('[TM-9] gives a planning session back to the queue, for another process to plan', async () => {
    world.agent('codemod', {
      plan: `[ -e "${world.folder}/go" ] || sleep 30; echo "# Plan" > "$PLACET_PLAN_FILE"`,
    });
    const first = await world.teammate({ shutdownGraceMs: 20_000 });
    const sessionId = await world.task();
    await eventually(
      async () => (await world.record(sessionId))?.epoch === 1 && (await queue()).active === 1,
    );
    const startedAt = performance.now();
    await first.close();
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect((await world.record(sessionId))?.phase).toBe('planning');
    expect(await queue()).toMatchObject({ active: 0, failed: 0 });
    world.agent('codemod', {});
    await world.teammate();

    await world.untilPlanned(sessionId);
  });

  it.each([
    ['may end its work within the grace', 20_000, 2],
    ['loses its work after the grace, which begins again elsewhere', 50, 3],
  ])('[TM-9] %s', async (_what, shutdownGraceMs, epoch) => {
    world.agent('codemod', { implement: 'echo begun >> done.txt; sleep 1' });
    const first = await world.teammate({ shutdownGraceMs });
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.lead.decide(request);
    await eventually(async () => (await world.request(request.requestId))?.work.state === 'applied');
    await first.close();
    if (epoch === 3) await world.teammate();
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:done.txt`)).toBe('begun');
    expect((await world.request(request.requestId))?.work.epoch).toBe(epoch);
  });

  it('[TM-9, TM-12] twice is told once, and says that it is alive only until then', async () => {
    const teammate = await world.teammate();
    await eventually(async () => (await world.lead.mailbox.presence.list(world.team))[0]?.processes === 1);
    expect(teammate.health()).toMatchObject({ running: true, activeJobs: 0 });
    await Promise.all([teammate.close(), teammate.close()]);

    expect(teammate.health().running).toBe(false);
    await eventually(async () => (await world.lead.mailbox.presence.list(world.team))[0]?.processes === 0);
  });
});

describe('a source that moved', () => {
  async function moved(onBaseMoved: 'notice' | 'replan' | 'refuse') {
    world.agent('codemod', { implement: 'echo "$PLACET_NOTICES" > done.txt' });
    await world.teammate({ settings: { onBaseMoved } });
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.untilPhase(sessionId, 'awaiting_approval');
    const planned = await world.git('rev-parse', 'HEAD');
    await world.commit({ 'other.txt': 'x' });
    await world.lead.decide(request);
    return { sessionId, request, planned };
  }

  it('[TM-13] is worked on as it was planned, and the agent and the lead are told', async () => {
    const { sessionId, planned } = await moved('notice');
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('rev-parse', `${branch}~1`)).toBe(planned);
    expect(await world.git('show', `${branch}:done.txt`)).toContain('the plan was made at');
    expect(await world.alarms()).toContain('base_moved');
  });

  it('[TM-13] is refused where that is the policy', async () => {
    const { sessionId, request } = await moved('refuse');

    expect(await world.untilPhase(sessionId, 'failed')).toMatchObject({ reason: 'base_moved' });
    expect((await world.request(request.requestId))?.work).toMatchObject({
      state: 'failed',
      reason: 'base_moved',
    });
    expect(await world.git('branch', '--list', 'placet/*')).toBe('');
  });

  it('[TM-13] is planned again where that is the policy, and needs a new approval though the plan is the same', async () => {
    const { sessionId, request } = await moved('replan');
    const second = await world.untilPlanned(sessionId, 2);

    expect(second).toMatchObject({ state: 'pending', plan: { digest: request.plan.digest } });
    expect(second.workspace?.head).toBe(await world.git('rev-parse', 'HEAD'));
    expect(await world.git('branch', '--list', 'placet/*')).toBe('');
  });
});
