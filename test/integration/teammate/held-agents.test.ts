import { writeFile } from 'node:fs/promises';
import type { AgentRuntime } from '@placet/teammate';
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

/** An agent that lives in its process: it implements only what that very process planned. */
class LivingAgent implements AgentRuntime {
  readonly heldForMs: number;
  readonly planned = new Map<string, number>();
  readonly implemented: string[] = [];
  readonly interrupted: string[] = [];

  constructor(heldForMs: number) {
    this.heldForMs = heldForMs;
  }

  readonly plan: AgentRuntime['plan'] = async ({ sessionId, planFilePath, revision }) => {
    this.planned.set(sessionId, revision);
    await writeFile(planFilePath, `# Plan ${revision}\n`);
    return { kind: 'finished' };
  };

  readonly resume: AgentRuntime['resume'] = (session) => this.plan(session);

  readonly implement: AgentRuntime['implement'] = async ({ sessionId }, work) => {
    if (!this.planned.has(sessionId))
      return { kind: 'failed', reason: 'agent_failed', detail: 'it was not planned here' };
    if (await work.confirmMode(work.permissionMode)) this.implemented.push(work.plan.text);
    return { kind: 'finished' };
  };

  readonly interrupt: AgentRuntime['interrupt'] = (sessionId) => {
    this.interrupted.push(sessionId);
    return Promise.resolve();
  };
}

describe('an agent that cannot be resumed', () => {
  it('[TM-6] is held with its job and lease until the decision, and goes on in its own process', async () => {
    const agent = new LivingAgent(60_000);
    await world.teammate({ runtime: agent });
    const session = await world.task();
    const request = await world.untilPlanned(session);
    expect((await world.queues.counts(world.team, world.name)).active).toBe(1);
    await world.lead.decide(request);
    await world.untilPhase(session, 'done');
    expect(agent.implemented).toEqual(['# Plan 1\n']);
  });

  it('[TM-6] is waited for no longer than its bound; decided after that, its plan is made again', async () => {
    const agent = new LivingAgent(300);
    await world.teammate({ runtime: agent });
    const session = await world.task();
    const first = await world.untilPlanned(session);
    await eventually(async () => (await world.queues.counts(world.team, world.name)).active === 0);
    expect(agent.interrupted).toEqual([session]);
    await world.lead.decide(first);
    const second = await world.untilPlanned(session, 2);
    expect(second.supersedes).toBe(first.requestId);
    expect(agent.implemented).toEqual([]);
  });

  it('[TM-6, I1] that is lost with its process is not replaced in the work, only in the planning', async () => {
    const lost = await world.teammate({ runtime: new LivingAgent(60_000) });
    const session = await world.task();
    const first = await world.untilPlanned(session);
    await lost.close();
    await world.lead.decide(first);
    const heir = new LivingAgent(60_000);
    await world.teammate({ runtime: heir });
    const second = await world.untilPlanned(session, 2);
    expect(heir.implemented).toEqual([]);
    await world.lead.decide(second);
    await world.untilPhase(session, 'done');
    expect(heir.implemented).toEqual(['# Plan 2\n']);
  });
});
