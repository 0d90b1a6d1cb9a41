import { verifyModeOrder } from '@placet/mailbox';
import { newSessionId, type PostureReport, type RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type LeadWorld, planDigest, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

useLead({}, async (opened) => {
  world = opened;
  [lead, teammate] = [await world.token(), await world.teammateToken()];
});

const pathOf = (sessionId: string, query = '?teammate=worker') =>
  `/v1/teams/${world.team}/sessions/${encodeURIComponent(sessionId)}/plan-mode${query}`;
const show = async (sessionId: string) => (await world.call(pathOf(sessionId), { token: lead })).json;
const enter = (sessionId: string, token = lead, query?: string) =>
  world.call(pathOf(sessionId, query), { token, method: 'POST' });
const exit = (sessionId: string, token = lead, query?: string) =>
  world.call(pathOf(sessionId, query), { token, method: 'DELETE' });
const port = () => world.mailbox.port(world.team, 'worker', { owner: 'local:owner' });
const orders = async (sessionId: string) =>
  (await world.mailbox.inboxes.read(world.team, 'worker', { limit: 200 })).filter(
    ({ message }) => message.type === 'mode_changed' && message.sessionId === sessionId,
  );

const free: PostureReport = {
  mode: 'plan',
  prePlanMode: 'acceptEdits',
  planModeRequired: false,
  cause: 'entered',
};

/** A task in hand of a host that reports. */
async function openTask(report?: PostureReport): Promise<string> {
  const sessionId = newSessionId();
  await port().openTask(sessionId, { task: 't', team: world.team, cwd: '/src', agent: 'codemod' });
  if (report) await port().reportPosture(sessionId, report);
  return sessionId;
}

async function decideAndApply(record: RequestRecord): Promise<void> {
  await world.decide(lead, record, { permissionMode: 'acceptEdits' });
  const claimed = await port().claim(record.requestId, 'h', 60_000);
  if (claimed.kind !== 'held') throw new Error('not held');
  await port().markApplied(record.requestId, claimed.lease.epoch, 'acceptEdits');
}

describe('the posture of a session', () => {
  it('[PM-18] shows the whole chain, from where the mode came to the mode in effect', async () => {
    const sessionId = await openTask();
    const record = await world.submit(teammate, { sessionId });
    await port().reportPosture(sessionId, {
      mode: 'acceptEdits',
      cause: 'approved',
      since: '2026-01-02T03:04:05.678Z',
      planModeRequired: true,
      plan: { path: 'plans/calm-red-fox.md', digest: planDigest },
      attachment: { reminderType: 'exit', turn: 7 },
      refusals: { total: 3, most: [{ tool: 'Write', reason: 'not_plan_safe', count: 3 }] },
      usage: { planning: { inputTokens: 10, outputTokens: 2 }, implementing: { inputTokens: 1 } },
      workingList: [{ id: 'a', content: 'Rename', status: 'in_progress' }],
      announcement: 'The plan was approved.',
    });
    await port().ask({ type: 'consent_request', requestId: 'open', sessionId });
    await decideAndApply(record);

    expect(await show(sessionId)).toMatchObject({
      team: world.team,
      teammate: 'worker',
      sessionId,
      phase: 'implementing',
      mode: { is: 'acceptEdits', from: 'host', cause: 'approved', since: '2026-01-02T03:04:05.678Z' },
      prePlanMode: 'default',
      planModeRequired: true,
      plan: { path: 'plans/calm-red-fox.md', digest: planDigest },
      lastAttachment: { reminderType: 'exit', turn: 7 },
      refusals: { total: 3, most: [{ tool: 'Write', reason: 'not_plan_safe', count: 3 }] },
      request: { requestId: record.requestId, state: 'approved', planDigest },
      decision: { outcome: 'approved', permissionMode: 'acceptEdits', decidedBy: 'local:lead' },
      work: { state: 'applied' },
      effectiveMode: 'acceptEdits',
      openQuestions: [{ requestId: 'open', kind: 'consent' }],
      workingList: [{ id: 'a', content: 'Rename', status: 'in_progress' }],
      usage: { planning: { inputTokens: 10, outputTokens: 2 }, implementing: { inputTokens: 1 } },
      announcement: 'The plan was approved.',
      missing: [],
    });
  });

  it('[PM-18] names each link that is missing, and takes what nobody said for the stricter', async () => {
    const sessionId = await openTask();
    const silent = await show(sessionId);
    expect(silent.mode).toEqual({ from: 'nobody' });
    expect(silent.planModeRequired).toBe(true);
    expect(silent.missing).toEqual([
      expect.stringContaining('a report of the session'),
      expect.stringContaining('a request'),
    ]);
    await port().reportPosture(sessionId, { mode: 'plan' });
    expect((await show(sessionId)).missing.map((link: string) => link.split(':')[0])).toEqual([
      'why the session is in this mode',
      'whether only a decision ends planning',
      'the mode to go back to',
      'a reminder',
      'a plan',
      'a request',
    ]);
    await world.submit(teammate, { sessionId });
    await port().reportPosture(sessionId, {
      ...free,
      attachment: { reminderType: 'full', turn: 0 },
      plan: { path: 'p', digest: `sha256:${'0'.repeat(64)}` },
    });
    expect((await show(sessionId)).missing.map((link: string) => link.split(':')[0])).toEqual([
      'a request for the plan as it is now',
      'a decision',
    ]);
  });

  it('[PM-18] of a session that two teammates have is shown of the one that is named', async () => {
    const other = world.mailbox.port(world.team, 'other', { owner: 'local:owner' });
    const sessionId = newSessionId();
    const job = { task: 't', team: world.team, cwd: '/src', agent: 'codemod' };
    for (const one of [port(), other]) {
      await one.reportPresence('p', 60_000);
      await one.openTask(sessionId, job);
    }
    const own = newSessionId();
    await other.openTask(own, job);

    const ambiguous = await world.call(pathOf(sessionId, ''), { token: lead });
    expect([ambiguous.status, ambiguous.json.issues]).toEqual([
      400,
      [{ path: 'teammate', message: expect.stringContaining('other, worker') }],
    ]);
    expect((await exit(sessionId, lead, '')).status).toBe(400);
    expect((await show(sessionId)).teammate).toBe('worker');
    expect((await world.call(pathOf(own, ''), { token: lead })).json.teammate).toBe('other');
    for (const query of ['', '?teammate=worker'])
      expect((await world.call(pathOf('nowhere', query), { token: lead })).status).toBe(404);
  });
});

describe('ordering a session into plan mode and out of it', () => {
  it('[PM-18] [PM-19] entering voids the approval, tells the host under signature, and is an event', async () => {
    const sessionId = await openTask(free);
    const record = await world.submit(teammate, { sessionId });
    await world.decide(lead, record);
    const answer = await enter(sessionId);

    expect(answer.json.missing).toContain(
      'an approval that stands: the session has entered plan mode again since',
    );
    const [order] = await orders(sessionId);
    expect(order).toMatchObject({ from: 'team-lead', message: { mode: 'plan', sessionId } });
    const session = { team: world.team, teammate: 'worker', sessionId, planEntries: 1 };
    expect(await verifyModeOrder(String(order?.message.order), session, world.keyRing)).toEqual({
      ...session,
      mode: 'plan',
      by: 'local:lead',
    });
    const { events } = await world.mailbox.events.read(world.team, undefined, 1000);
    expect(events.findLast((event) => event.sessionId === sessionId)).toMatchObject({
      type: 'plan:mode',
      mode: 'plan',
      cause: 'entered',
      by: 'local:lead',
      announcement: expect.stringMatching(/^local:lead has the session plan/),
    });
  });

  it('[PM-17] leaving is refused where plan mode is required, and where nothing says that it is not', async () => {
    for (const report of [undefined, { ...free, planModeRequired: true }, { mode: 'plan' as const }]) {
      const sessionId = await openTask(report);
      const refused = await exit(sessionId);
      expect([refused.status, refused.json.code]).toEqual([403, 'approval_required']);
      expect(await orders(sessionId)).toEqual([]);
    }
  });

  it('[PM-13] leaving is a person’s act: a lead that is an agent is refused, and may enter', async () => {
    const agent = await world.token({ kind: 'agent', principal: 'agent:lead' });
    const sessionId = await openTask(free);
    const refused = await exit(sessionId, agent);
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    const message = { type: 'mode_changed', mode: 'default', sessionId };
    const body = { to: 'worker', message };
    for (const token of [agent, lead, await world.teammateToken('other')])
      expect((await world.call(`/v1/teams/${world.team}/messages`, { token, body })).status).toBe(400);
    expect(await orders(sessionId)).toEqual([]);
    expect((await enter(sessionId, agent)).status).toBe(200);
  });

  it('[PM-18] leaving tells the host to go back to the mode from before; outside plan mode it does nothing', async () => {
    const sessionId = await openTask(free);
    expect((await exit(sessionId)).status).toBe(200);
    const [order] = await orders(sessionId);
    expect(order?.message).toMatchObject({ mode: 'acceptEdits', sessionId });
    const session = { team: world.team, teammate: 'worker', sessionId, planEntries: 0 };
    expect(await verifyModeOrder(String(order?.message.order), session, world.keyRing)).toMatchObject({
      by: 'local:lead',
    });
    await port().reportPosture(sessionId, { mode: 'acceptEdits', planModeRequired: false, cause: 'exited' });
    expect((await exit(sessionId)).status).toBe(200);
    expect(await orders(sessionId)).toHaveLength(1);
  });

  it('[TM-45] a repetition under one operation ID is one order', async () => {
    const sessionId = await openTask(free);
    const query = '?teammate=worker&operationId=op-1';
    for (let times = 0; times < 3; times += 1) expect((await enter(sessionId, lead, query)).status).toBe(200);
    expect(await orders(sessionId)).toHaveLength(1);
    expect(await port().getTask(sessionId)).toMatchObject({ planEntries: 1 });
  });
});
