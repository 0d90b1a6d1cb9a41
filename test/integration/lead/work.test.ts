import { newRequestId } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type LeadWorld, submission, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

useLead({}, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

describe('taking back', () => {
  it('a pending request is withdrawn by its teammate, and stays so', async () => {
    const record = await world.submit(teammate);
    const answer = await world.call(world.path(record.requestId, '/withdraw'), {
      method: 'POST',
      token: teammate,
    });
    expect([answer.status, answer.json.state]).toEqual([200, 'withdrawn']);
    expect((await world.decide(lead, record)).json).toMatchObject({
      code: 'already_decided',
      current: { state: 'withdrawn' },
    });
  });

  it('[IN-20] nobody else’s', async () => {
    const record = await world.submit(teammate);
    const other = await world.call(world.path(record.requestId, '/withdraw'), {
      method: 'POST',
      token: await world.teammateToken('other'),
    });
    expect(other.status).toBe(404);
    expect((await world.call(world.path(record.requestId), { token: lead })).json.state).toBe('pending');
  });
});

describe('messages and work over HTTP', () => {
  it('a message reaches its inbox once, however often it is sent under one operation', async () => {
    const body = { to: 'worker', operationId: 'op-1', message: { type: 'message', text: 'hello' } };
    const send = () => world.call(`/v1/teams/${world.team}/messages`, { token: lead, body });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status, again.json.id]).toEqual([201, 201, first.json.id]);
    const { json } = await world.call(`/v1/teams/${world.team}/inbox/worker?limit=200`, { token: teammate });
    const received = json.entries.filter((entry: { id: string }) => entry.id === first.json.id);
    expect(received).toMatchObject([
      { from: 'team-lead', to: 'worker', message: { type: 'message', text: 'hello' } },
    ]);
    const ack = await world.call(`/v1/teams/${world.team}/inbox/worker/ack`, {
      token: teammate,
      body: { ids: [first.json.id] },
    });
    expect(ack.json).toEqual({ acknowledged: 1 });
  });

  it('[TM-11] claim, delivery, application and settlement are on the record, each with its time', async () => {
    const record = await world.submit(teammate);
    await world.decide(lead, record, { permissionMode: 'acceptEdits' });
    const post = (rest: string, body: unknown) =>
      world.call(world.path(record.requestId, rest), { token: teammate, body });
    expect((await post('/receipt', { kind: 'delivered' })).json.delivery.deliveredAt).toBeDefined();
    const claim = await post('/claim', { holder: 'p1', leaseMs: 5000 });
    expect(claim.json.work).toMatchObject({ state: 'claimed', epoch: 1 });
    const applied = await post('/receipt', { kind: 'applied', epoch: 1, effectiveMode: 'acceptEdits' });
    expect(applied.json.work).toMatchObject({ state: 'applied', effectiveMode: 'acceptEdits' });
    const settled = await post('/settle', { epoch: 1, state: 'done', branch: 'placet/x', commit: 'abc' });
    expect(settled.json.work).toMatchObject({ state: 'done', settledAt: expect.any(String) });
    expect((await world.call(world.path(record.requestId), { token: lead })).json.work.state).toBe('done');
  });

  it('[TM-11] a mode in effect that is stronger than the one granted is told to the leads', async () => {
    const alarms = async () =>
      (await world.mailbox.events.read(world.team, '0-0', 1000)).events.filter(
        (event) => event.type === 'alarm' && event.code === 'mode_mismatch',
      );
    for (const effectiveMode of ['acceptEdits', 'bypassPermissions']) {
      const record = await world.submit(teammate);
      await world.decide(lead, record, { permissionMode: 'acceptEdits' });
      const post = (rest: string, body: unknown) =>
        world.call(world.path(record.requestId, rest), { token: teammate, body });
      await post('/claim', { holder: 'p1', leaseMs: 5000 });
      await post('/receipt', { kind: 'applied', epoch: 1, effectiveMode });
      expect(await alarms()).toMatchObject(
        effectiveMode === 'acceptEdits' ? [] : [{ requestId: record.requestId }],
      );
    }
  });

  it('[TM-12] a teammate that is alive is seen', async () => {
    await world.call(`/v1/teams/${world.team}/presence`, {
      token: teammate,
      body: { process: 'p1', ttlMs: 60_000 },
    });
    const { json } = await world.call(`/v1/teams/${world.team}/presence`, { token: lead });
    expect(json.teammates).toMatchObject([{ teammate: 'worker', alive: true, lastSeen: expect.any(String) }]);
  });

  it('[WR-2] a native ID must be of its submitter and team', async () => {
    for (const requestId of [newRequestId('worker', 'elsewhere'), newRequestId('other', world.team)])
      expect(
        (await world.call(world.path(), { token: teammate, body: submission(world.team, { requestId }) }))
          .status,
      ).toBe(400);
  });
});
