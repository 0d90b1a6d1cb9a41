import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { LeadWorld } from './lead-world.ts';

let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await redis.stop();
});

describe('what a lead does by itself', () => {
  it('[WR-24] ends a request at its deadline though nobody reads it, once, whoever of two leads does', async () => {
    const [one, two] = [
      await LeadWorld.open({ redisUrl: redis.url }),
      await LeadWorld.open({ redisUrl: redis.url }),
    ];
    const record = await one.submit(await one.teammateToken(), { deadlineMs: 1000 });
    const endings = async () => {
      const { events } = await one.mailbox.events.read(one.team, undefined, 100);
      return events.filter(
        ({ type, requestId }) => type === 'plan:decided' && requestId === record.requestId,
      );
    };
    await eventually(async () => (await endings()).length > 0);
    expect(await endings()).toMatchObject([{ outcome: 'timeout' }]);
    await one.close();
    await two.close();
  });

  it('[ST-7] a duty goes on in another process when the one that had it stops', async () => {
    const one = await LeadWorld.open({ redisUrl: redis.url });
    await one.submit(await one.teammateToken());
    await eventually(async () =>
      (await one.call('/metrics')).text.includes('placet_duty_runs_total{duty="deadlines",result="done"}'),
    );
    const two = await LeadWorld.open({ redisUrl: redis.url });
    await one.lead.close();
    const record = await two.mailbox.requests.submit({
      team: one.team,
      teammate: 'worker',
      owner: 'local:x',
      policyDigest: `sha256:${'0'.repeat(64)}`,
      submission: {
        requestId: 'r',
        planFilePath: 'p',
        planContent: 'x',
        sessionId: 's',
        revision: 1,
        prePlanMode: 'default',
        executionTarget: 'local',
        labels: {},
        deadlineMs: 1000,
      },
    });
    // Given back at the stop, so that nobody waits for the 10 s of the lease.
    await eventually(
      async () => {
        const { events } = await two.mailbox.events.read(one.team, undefined, 100);
        return events.some(
          ({ requestId, outcome }) => requestId === record.record.requestId && outcome === 'timeout',
        );
      },
      { withinMs: 5000 },
    );
    await one.close();
    await two.close();
  });

  it('[TM-5] wakes approved work again that nobody has claimed', async () => {
    const world = await LeadWorld.open({ redisUrl: redis.url, mailbox: { reconcileAfterMs: 100 } });
    const sessionId = 'a-session';
    const name = { team: world.team, teammate: 'worker', sessionId };
    await world.mailbox.tasks.open(name, { task: 't', team: world.team, cwd: '/tmp', agent: 'codemod' });
    const record = await world.submit(await world.teammateToken(), { sessionId });
    await world.decide(await world.token(), record);
    const first = (await world.mailbox.tasks.get(name))?.wake ?? 0;
    await eventually(async () => ((await world.mailbox.tasks.get(name))?.wake ?? 0) > first);
    await world.close();
  });

  it('[TM-42] purges what was settled longer ago than the retention', async () => {
    const world = await LeadWorld.open({ redisUrl: redis.url, mailbox: { retentionMs: 1 } });
    const [teammate, lead] = [await world.teammateToken(), await world.token()];
    const [ended, pending] = [
      await world.submit(teammate, { requestId: 'ended' }),
      await world.submit(teammate, { requestId: 'pending' }),
    ];
    await world.decide(lead, ended, { outcome: 'rejected', feedback: 'no' });
    const heir = await LeadWorld.open({ redisUrl: redis.url, mailbox: { retentionMs: 1 } });
    await world.lead.close();
    const reopened = await LeadWorld.open({ redisUrl: redis.url, mailbox: { retentionMs: 1 } });
    await eventually(
      async () => (await world.mailbox.requests.get(world.team, ended.requestId)) === undefined,
    );
    expect((await world.mailbox.requests.get(world.team, pending.requestId))?.state).toBe('pending');
    for (const one of [world, heir, reopened]) await one.close();
  });
});
