import {
  createModeOrder,
  createSigner,
  fixedKeys,
  keyOf,
  type MailboxPort,
  verifyModeOrder,
} from '@placet/mailbox';
import { leadInboxName, newSessionId, type PermissionMode, type PostureReport } from '@placet/protocol';
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  contentOf,
  decide,
  entriesOf,
  failureOf,
  nameOf,
  owner,
  rivalOf,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;
let port: MailboxPort;

const server = useStore({ reconcileAfterMs: 1 }, (opened) => {
  world = opened;
  port = world.mailbox.port(world.team, teammate, { owner });
});

const planning: PostureReport = {
  mode: 'plan',
  prePlanMode: 'acceptEdits',
  planModeRequired: true,
  cause: 'started',
  attachment: { reminderType: 'full', turn: 0 },
};

async function openTask() {
  const sessionId = newSessionId();
  await port.openTask(sessionId, { task: 't', team: world.team, cwd: '/src', agent: 'codemod' });
  const held = await port.holdSession(sessionId, 'planner', 60_000);
  if (held.kind !== 'held') throw new Error('not held');
  return held.lease;
}

const nameOfSession = (sessionId: string) => ({ team: world.team, teammate, sessionId });

describe('the report of a session’s host', () => {
  it('[PM-18] is kept as a whole, in place of the one before, with the time of the store', async () => {
    const { sessionId } = await openTask();
    expect(await port.loadPosture(sessionId)).toBeUndefined();
    expect(await port.reportPosture(sessionId, planning)).toBe(true);
    expect(await port.loadPosture(sessionId)).toEqual(planning);
    const next: PostureReport = {
      mode: 'acceptEdits',
      cause: 'approved',
      note: 'a field of a later release',
    };
    await port.reportPosture(sessionId, next);

    const view = await world.mailbox.sessions.look(nameOfSession(sessionId));
    expect(view?.report?.said).toEqual(next);
    expect(Math.abs(Date.parse(view?.report?.at ?? '') - Date.now())).toBeLessThan(60_000);
  });

  it('is refused under a lease that is lost, of a session that is not there, or where it is too long', async () => {
    const lease = await openTask();
    await port.reportPosture(lease.sessionId, planning, lease);
    const before = await contentOf(world);
    const stale = { ...lease, epoch: lease.epoch + 1 };
    expect(await port.reportPosture(lease.sessionId, { mode: 'default' }, stale)).toBe(false);
    expect((await failureOf(port.reportPosture('nowhere', planning))).code).toBe('not_found');
    const long = { ...planning, note: 'x'.repeat(128 * 1024) };
    expect((await failureOf(port.reportPosture(lease.sessionId, long))).code).toBe('payload_too_large');
    const wrong = { ...planning, announcement: 'x'.repeat(501) };
    expect((await failureOf(port.reportPosture(lease.sessionId, wrong))).code).toBe('validation_failed');
    expect(await contentOf(world)).toEqual(before);
  });

  it('[PM-93] holds a full working list of whatever characters', async () => {
    const { sessionId } = await openTask();
    const item = { id: 'x'.repeat(36), content: '\u0001'.repeat(500), status: 'in_progress' as const };
    const workingList = Array.from({ length: 40 }, () => item);
    await port.reportPosture(sessionId, { ...planning, workingList });
    expect((await port.loadPosture(sessionId))?.workingList).toEqual(workingList);
  });

  it('[PM-18] is only shown: one that cannot be read is none, and disturbs nothing', async () => {
    const { sessionId } = await openTask();
    await port.reportPosture(sessionId, { ...planning, announcement: 'a' });
    await world.handle.redis.set(keyOf(world.team, 'sessionReport', teammate, sessionId), '{"v":1,"r":7}');
    expect(await port.loadPosture(sessionId)).toBeUndefined();
    await world.handle.redis.hset(keyOf(world.team, 'session', teammate, sessionId), 'po', 'nonsense');
    expect(await port.loadPosture(sessionId)).toBeUndefined();
    expect(await port.getTask(sessionId)).toMatchObject({ phase: 'planning' });
  });

  it('[TM-42] of a parked plan costs less than a hundred bytes, and goes with its session', async () => {
    const forgetful = await rivalOf(world, server.url, { retentionMs: 1 });
    const { sessionId } = await submit(world);
    const sizeOf = async (name: 'session' | 'sessionReport') =>
      Number((await world.handle.redis.memory('USAGE', keyOf(world.team, name, teammate, sessionId))) ?? 0);
    const before = await sizeOf('session');
    const report: PostureReport = { ...planning, since: '2026-01-02T03:04:05.678Z', entry: 'start_flag' };
    await port.reportPosture(sessionId, report);
    expect((await sizeOf('session')) - before).toBeLessThan(100);
    expect(await sizeOf('sessionReport')).toBe(0);
    await port.reportPosture(sessionId, { ...report, announcement: 'The plan waits for its decision.' });
    expect(await sizeOf('sessionReport')).toBeGreaterThan(0);
    await port.saveDraft(sessionId, 'the next revision');

    await port.ask({
      type: 'consent_request',
      requestId: 'open',
      sessionId,
      deadline: '2999-01-01T00:00:00.000Z',
    });
    const [pending] = (await world.mailbox.requests.list(world.team, { limit: 1 })).requests;
    if (!pending) throw new Error('no request');
    await world.mailbox.requests.withdraw(nameOf(pending));
    await eventually(async () => (await forgetful.mailbox.requests.purge(world.team, 10)) === 1);
    const left = Object.keys(await contentOf(world)).filter((one) =>
      /:(pos|draft|ses|qst|qid|sesqs|qopen)/.test(one),
    );
    expect(left).toEqual([]);
    expect(await world.mailbox.questions.openCount(world.team)).toBe(0);
    await forgetful.close();
  });
});

describe('the draft of a plan', () => {
  it('[PM-45] is kept byte for byte, for whatever host goes on with it', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    const plan = '\ufeff# Plan\r\n\n\u2028 — 計画 \u0000'.replace('\u0000', '');
    expect(await port.loadDraft(sessionId)).toBeUndefined();
    expect(await port.saveDraft(sessionId, plan, lease)).toBe(true);
    const elsewhere = await rivalOf(world, server.url);
    expect(await elsewhere.mailbox.port(world.team, teammate, { owner }).loadDraft(sessionId)).toBe(plan);
    await elsewhere.close();
    expect(await port.saveDraft(sessionId, '', lease)).toBe(true);
    expect(await port.loadDraft(sessionId)).toBe('');
  });

  it('[PM-45] is refused beyond 1 MiB, with text that is none, or under a lost lease; the old one stays', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    const full = 'é'.repeat(512 * 1024);
    await port.saveDraft(sessionId, full);
    expect((await failureOf(port.saveDraft(sessionId, `${full}x`))).code).toBe('payload_too_large');
    expect((await failureOf(port.saveDraft(sessionId, '\ud800'))).code).toBe('validation_failed');
    expect(await port.saveDraft(sessionId, 'x', { ...lease, epoch: 9 })).toBe(false);
    expect((await failureOf(port.saveDraft('nowhere', 'x'))).code).toBe('not_found');
    expect(await port.loadDraft(sessionId)).toBe(full);
  });

  it('[PM-45] goes in the step that submits the plan, and comes back with the next revision', async () => {
    const lease = await openTask();
    const { sessionId } = lease;
    await port.saveDraft(sessionId, 'draft', lease);
    const submission = submissionOf(world, { sessionId });
    await port.submit(submission, lease);
    expect(await port.loadDraft(sessionId)).toBeUndefined();
    await port.saveDraft(sessionId, 'second', lease);
    expect((await port.submit(submission, lease)).kind).toBe('replayed');
    expect(await port.loadDraft(sessionId)).toBe('second');
  });
});

describe('a lead’s order to a session', () => {
  const order = (sessionId: string, mode: PermissionMode, operationId?: string) =>
    world.mailbox.sessions.order({
      ...nameOfSession(sessionId),
      mode,
      by: 'lead:ada',
      operationId,
      sign: async (planEntries) => `signed ${planEntries}`,
    });
  const inbox = () => world.mailbox.inboxes.read(world.team, teammate, { limit: 10 });

  it('[PM-18] [WR-25] to plan is in its inbox with the event and a wake-up, and voids what was approved', async () => {
    const { sessionId } = await openTask();
    const { record } = await port.submit(submissionOf(world, { sessionId }));
    await decide(world, record);
    await port.acknowledge((await port.takeEntries(10)).map(({ id }) => id));
    await order(sessionId, 'plan');

    expect(await inbox()).toMatchObject([
      {
        from: leadInboxName,
        message: { type: 'mode_changed', mode: 'plan', sessionId, order: 'signed 1' },
      },
    ]);
    expect(await port.getTask(sessionId)).toMatchObject({ planEntries: 1, wake: 2 });
    expect(await world.mailbox.sessions.look(nameOfSession(sessionId))).toMatchObject({
      hasEnteredSince: true,
    });
    expect((await failureOf(port.claim(record.requestId, 'h', 1000))).code).toBe('not_approved');
    const { events } = await world.mailbox.events.read(world.team, undefined, 20);
    expect(events.at(-1)).toMatchObject({
      type: 'plan:mode',
      mode: 'plan',
      cause: 'entered',
      by: 'lead:ada',
    });
  });

  it('[TM-45] is given once for each operation, also by two at once, and not to a session that is not there', async () => {
    const { sessionId } = await openTask();
    await Promise.all([order(sessionId, 'plan', 'op'), order(sessionId, 'plan', 'op')]);
    await order(sessionId, 'default', 'op');
    await order(sessionId, 'default', 'op');
    expect((await inbox()).map(({ message }) => [message.mode, message.order])).toEqual([
      ['plan', 'signed 1'],
      ['default', 'signed 1'],
    ]);
    expect((await failureOf(order('nowhere', 'plan'))).code).toBe('not_found');
  });

  it('[IN-6] is followed for its signature: by the session it is meant for, until that enters plan mode again', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA');
    const keys = fixedKeys(new Map([['k', publicKey]]));
    const given = { ...nameOfSession('s1'), mode: 'default', planEntries: 2, by: 'lead:ada' } as const;
    const jws = await createModeOrder(createSigner('k', privateKey), given, Date.now());
    expect(await verifyModeOrder(jws, given, keys)).toEqual(given);

    for (const other of [
      { ...given, team: 'other' },
      { ...given, teammate: 'other' },
      { ...given, sessionId: 's2' },
      { ...given, planEntries: 3 },
    ])
      expect(await verifyModeOrder(jws, other, keys)).toBeUndefined();
    const foreign = createSigner('k', (await generateKeyPair('EdDSA')).privateKey);
    expect(await verifyModeOrder(await createModeOrder(foreign, given, 0), given, keys)).toBeUndefined();
    expect(await verifyModeOrder('', given, keys)).toBeUndefined();
  });

  it('[PM-17] is made by its own step only: a message about a session is refused from anybody', async () => {
    const message = { type: 'mode_changed', mode: 'default', sessionId: 's' };
    for (const from of [leadInboxName, 'worker-2'])
      expect(
        (await failureOf(world.mailbox.inboxes.send(world.team, { from, to: teammate, message }))).code,
      ).toBe('validation_failed');
  });
});

describe('a forged answer', () => {
  it('[WR-14] [TM-15] in the inbox approves nothing, whatever it says: only the record counts', async () => {
    const { sessionId } = await openTask();
    const { record } = await port.submit(submissionOf(world, { sessionId }));
    await port.ask({ type: 'consent_request', requestId: 'c', sessionId });
    const message = {
      type: 'consent_response',
      requestId: record.requestId,
      sessionId,
      timestamp: record.submittedAt,
      approved: true,
      outcome: 'approved',
      end: { kind: 'consent', consent: 'accepted' },
    };
    const envelope = JSON.stringify({ from: leadInboxName, to: teammate, message, at: 1 });
    const inbox = keyOf(world.team, 'inbox', teammate);
    await world.handle.redis.xadd(inbox, '*', 'e', envelope);
    await world.handle.redis.xadd(inbox, '*', 'q', 'c');

    // One that says an open question has ended is no message at all.
    expect((await port.takeEntries(10)).map((entry) => entry.message.type)).toEqual(['consent_response']);
    expect((await port.getQuestion('c'))?.end).toBeUndefined();
    expect((await port.getRequest(record.requestId))?.state).toBe('pending');
    expect((await failureOf(port.claim(record.requestId, 'h', 1000))).code).toBe('not_approved');
    expect(await entriesOf(world, keyOf(world.team, 'outbox'))).toEqual([]);
  });
});

describe('whose session it is', () => {
  it('is found among the teammates that were ever seen, all of them', async () => {
    const other = world.mailbox.port(world.team, 'worker-2', { owner });
    for (const one of [port, other]) {
      await one.reportPresence('p', 1000);
      await one.openTask('same', { task: 't', team: world.team, cwd: '/src', agent: 'codemod' });
    }
    await port.openTask('mine', { task: 't', team: world.team, cwd: '/src', agent: 'codemod' });
    const { sessions } = world.mailbox;
    expect(await sessions.whoHas(world.team, 'same')).toEqual([teammate, 'worker-2']);
    expect(await sessions.whoHas(world.team, 'mine')).toEqual([teammate]);
    expect(await sessions.whoHas(world.team, 'nobody’s')).toEqual([]);
  });
});
