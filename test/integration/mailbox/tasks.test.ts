import type { SessionLease } from '@placet/mailbox';
import { digestOfText, newRequestId, newSessionId } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { contentOf, failureOf, type StoreWorld, submit, teammate, useStore } from './store-world.ts';

let world: StoreWorld;

useStore({}, (opened) => {
  world = opened;
});

async function opened() {
  const { team } = world;
  const name = { team, teammate, sessionId: newSessionId() };
  const job = {
    task: 'rename',
    team,
    cwd: '/src',
    agent: 'codemod',
    labels: { a: 'b' },
    ours: { is: 'kept' },
  };
  const task = await world.mailbox.tasks.open(name, { ...job, permissionMode: 'acceptEdits' });
  return { name, job, task };
}

async function held(
  name: Parameters<typeof world.mailbox.tasks.hold>[0],
  holder = 'h',
  leaseMs = 60_000,
): Promise<SessionLease> {
  const result = await world.mailbox.tasks.hold(name, holder, leaseMs);
  if (result.kind !== 'held') throw new Error('busy');
  return result.lease;
}

describe('a task', () => {
  it('[TM-2] is made once, in phase planning, with its job as it was given', async () => {
    const { name, job, task } = await opened();
    expect(task).toEqual({
      v: 1,
      sessionId: name.sessionId,
      job: { ...job, permissionMode: 'acceptEdits' },
      phase: 'planning',
      createdAt: task.createdAt,
      prePlanMode: 'acceptEdits',
      revision: 0,
      epoch: 0,
      wake: 0,
      planEntries: 0,
    });
    const before = await contentOf(world);
    expect(await world.mailbox.tasks.open(name, { ...job, task: 'another' })).toEqual(task);
    expect(await contentOf(world)).toEqual(before);
  });

  it('[TM-2] is made once by twenty that open it at the same time', async () => {
    const { team } = world;
    const name = { team, teammate, sessionId: newSessionId() };
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, place) =>
        world.mailbox.tasks.open(name, { task: `task ${place}`, team, cwd: '/src', agent: 'codemod' }),
      ),
    );
    expect(new Set(tasks.map(({ job }) => job.task)).size).toBe(1);
  });

  it('[TM-2] of another team is refused; one that is not there is none', async () => {
    const name = { team: world.team, teammate, sessionId: newSessionId() };
    const job = { task: 't', team: 'other', cwd: '/src', agent: 'codemod' };
    expect((await failureOf(world.mailbox.tasks.open(name, job))).code).toBe('validation_failed');
    expect(await world.mailbox.tasks.get(name)).toBeUndefined();
    expect((await failureOf(world.mailbox.tasks.hold(name, 'h', 1000))).code).toBe('not_found');
  });

  it('[TM-4] remembers the intent before the request, and both after it', async () => {
    const { name } = await opened();
    const lease = await held(name);
    const requestId = newRequestId(teammate, world.team);
    const planContent = 'the plan';
    const intent = { requestId, digest: digestOfText(planContent) };
    await world.mailbox.tasks.change(name, lease, { intent });
    expect(await world.mailbox.tasks.get(name)).toMatchObject({ phase: 'planning', intent });

    await submit(world, { requestId, sessionId: name.sessionId, planContent, revision: 4 });
    expect(await world.mailbox.tasks.get(name)).toMatchObject({
      phase: 'awaiting_approval',
      requestId,
      revision: 4,
      intent,
    });
    await world.mailbox.tasks.change(name, lease, { intent: null });
    expect((await world.mailbox.tasks.get(name))?.intent).toBeUndefined();
  });

  it('[TM-2] shows what its holder writes, and keeps what it does not name', async () => {
    const { name } = await opened();
    const lease = await held(name);
    await world.mailbox.tasks.change(name, lease, { branch: 'placet/a', commit: 'c0ffee' });
    await world.mailbox.tasks.change(name, lease, { phase: 'failed', reason: 'agent_failed' });
    expect(await world.mailbox.tasks.get(name)).toMatchObject({
      phase: 'failed',
      reason: 'agent_failed',
      branch: 'placet/a',
      commit: 'c0ffee',
    });
  });
});

describe('a lease', () => {
  it('[TM-16] is granted to one of fifty that come at once', async () => {
    const { name } = await opened();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, place) => world.mailbox.tasks.hold(name, `h${place}`, 60_000)),
    );
    expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    expect((await world.mailbox.tasks.get(name))?.epoch).toBe(1);
  });

  it('[TM-45] repeated by its holder is the same lease', async () => {
    const { name } = await opened();
    expect(await held(name)).toEqual(await held(name));
  });

  it('[TM-16] that lapsed goes to the next, under a later epoch; the former one can do nothing any more', async () => {
    const { name } = await opened();
    const { tasks } = world.mailbox;
    const former = await held(name, 'former', 1);
    await tasks.change(name, former, { running: '1:2' });
    const latter = await eventually(() => held(name, 'latter'));
    expect(latter).toMatchObject({ epoch: 2, leftover: '1:2' });
    const before = await contentOf(world);

    expect(await tasks.change(name, former, { phase: 'failed' })).toBe(false);
    expect(await tasks.renew(name, former, 60_000)).toBe(false);
    await tasks.release(name, former);
    expect(await contentOf(world)).toEqual(before);
  });

  it('[TM-16] is prolonged by renewing', async () => {
    const { name } = await opened();
    const lease = await held(name, 'h', 500);
    expect(await world.mailbox.tasks.renew(name, lease, 60_000)).toBe(true);
    const rival = await world.mailbox.tasks.hold(name, 'other', 1000);
    expect(rival.kind === 'busy' && rival.freeInMs).toBeGreaterThan(50_000);
  });

  it('[TM-16] that was released is free at once, leaves nothing running, and cannot be used again', async () => {
    const { name } = await opened();
    const lease = await held(name);
    await world.mailbox.tasks.change(name, lease, { running: '1:2' });
    await world.mailbox.tasks.release(name, lease);
    expect(await world.mailbox.tasks.change(name, lease, { phase: 'done' })).toBe(false);
    expect(await world.mailbox.tasks.renew(name, lease, 1000)).toBe(false);
    expect(await held(name, 'next')).toMatchObject({ epoch: 2, leftover: undefined });
  });
});
