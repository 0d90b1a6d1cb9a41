import { keyOf, type MailboxPort } from '@placet/mailbox';
import { newSessionId } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  decide,
  failureOf,
  owner,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;
let port: MailboxPort;

useStore({}, (opened) => {
  world = opened;
  port = world.mailbox.port(world.team, teammate, { owner, ownerProof: 'header.proof.signature' });
});

describe('a teammate’s port on Redis', () => {
  it('[TM-50] [TM-8] takes one task from its plan to its end', async () => {
    const { team } = world;
    const sessionId = newSessionId();
    await port.openTask(sessionId, { task: 't', team, cwd: '/src', agent: 'codemod' });
    const planning = await port.holdSession(sessionId, 'planner', 60_000);
    if (planning.kind !== 'held') throw new Error('not held');
    const { kind, record } = await port.submit(submissionOf(world, { sessionId }), planning.lease);
    await port.releaseSession(planning.lease);
    expect(kind).toBe('created');
    await decide(world, record);

    const [entry] = await port.takeEntries(10);
    expect(entry).toMatchObject({
      from: 'team-lead',
      to: teammate,
      deliveries: 1,
      message: { approved: true },
    });
    expect(await port.acknowledge([entry?.id ?? ''])).toBe(1);
    expect(Buffer.from((await port.getPlan(record.plan.digest)) ?? []).toString()).toContain('Rename');
    await port.markDelivered(record.requestId);
    const working = await port.claim(record.requestId, 'implementer', 60_000);
    if (working.kind !== 'held') throw new Error('not held');
    expect(working.lease).toEqual({ sessionId, epoch: 2, leftover: undefined });
    await port.markApplied(record.requestId, 2, 'acceptEdits');
    const settled = await port.settle(record.requestId, {
      epoch: 2,
      state: 'done',
      branch: 'b',
      commit: 'c',
    });
    expect(settled.work).toMatchObject({ state: 'done', epoch: 2 });
    await port.releaseSession(working.lease);
    expect(await port.getTask(sessionId)).toMatchObject({ phase: 'done', branch: 'b', commit: 'c', wake: 1 });
  });

  it('[IN-6] leaves the proof of its owner for the lead that decides', async () => {
    const { record } = await port.submit(submissionOf(world));
    expect(record.owner).toBe(owner);
    expect(await world.mailbox.requests.ownerProof(world.team, teammate)).toBe('header.proof.signature');
    expect(await world.mailbox.requests.ownerProof(world.team, 'worker-2')).toBeUndefined();
  });

  it('[TM-10] knows its own requests only, and has no way to decide one', async () => {
    const other = await submit(world, { teammate: 'worker-2' });
    expect(await port.getRequest(other.requestId)).toBeUndefined();
    for (const call of [
      port.withdraw(other.requestId),
      port.claim(other.requestId, 'h', 1000),
      port.settle(other.requestId, { epoch: 1, state: 'done' }),
      port.markDelivered(other.requestId),
    ]) {
      expect((await failureOf(call)).code).toBe('not_found');
    }
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(port));
    expect(methods.filter((name) => /decide|commit|reserve|approve/i.test(name))).toEqual([]);
  });

  it('[TM-12] reports its presence, its events and its messages', async () => {
    await port.reportPresence('p1', 60_000);
    await port.report({ type: 'alarm', teammate, code: 'decision_invalid', detail: 'd' });
    await port.sendToLead({ type: 'message', text: 'hello' }, 'op-1');

    expect((await world.mailbox.presence.list(world.team)).map((seen) => seen.teammate)).toEqual([teammate]);
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events[0]).toMatchObject({ type: 'alarm', code: 'decision_invalid' });
    const [note] = await world.mailbox.inboxes.read(world.team, 'team-lead', { limit: 10 });
    expect(note?.message).toEqual({ type: 'message', text: 'hello' });
    expect(await world.handle.redis.zcard(keyOf(world.team, 'notes'))).toBe(1);
  });
});
