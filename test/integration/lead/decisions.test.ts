import { createLeadMode, createOwnerProof, DecisionVerifier, ownRequestOf } from '@placet/mailbox';
import { RequestRecord as RecordSchema, type RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { LeadWorld, plan, planDigest, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

const redis = useLead({}, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

describe('one decision', () => {
  it('[IN-1] an approval is signed, bound to the plan, and verifies under the published keys', async () => {
    const record = await world.submit(teammate);
    const answer = await world.decide(lead, record, { permissionMode: 'acceptEdits', context: 'clear' });
    expect(answer.status).toBe(200);
    const decided = RecordSchema.parse(answer.json);
    expect(decided).toMatchObject({
      state: 'approved',
      decision: {
        outcome: 'approved',
        permissionMode: 'acceptEdits',
        context: 'clear',
        planEdited: false,
        approvedPlanDigest: planDigest,
        decidedBy: 'local:lead',
      },
    });
    expect(await verified(decided, plan)).toMatchObject({
      kind: 'valid',
      claims: { policyDigest: record.policyDigest },
    });
  });

  it('[PM-79] an edited plan is what is approved, and reaches the inbox of the teammate', async () => {
    const record = await world.submit(teammate);
    const edited = `${plan}2. Add a test.\n`;
    const answer = await world.decide(lead, record, { planContent: edited });
    expect(answer.json.decision).toMatchObject({ planEdited: true });
    expect(await verified(RecordSchema.parse(answer.json), edited)).toMatchObject({ kind: 'valid' });
    const { json } = await world.call(`/v1/teams/${world.team}/inbox/worker?limit=200`, { token: teammate });
    const response = json.entries.find(
      (entry: { message: { requestId?: string } }) => entry.message.requestId === record.requestId,
    );
    expect(response.message).toMatchObject({
      type: 'plan_approval_response',
      approved: true,
      planContent: edited,
      planEdited: true,
    });
  });

  it.each([
    ['an approval', { permissionMode: 'acceptEdits' }],
    ['an approval that names no mode', {}],
    ['an approval of an edited plan', { planContent: 'edited' }],
    ['an approval with a scope', { scope: { write: ['src/**'], run: [], tools: [] } }],
    ['a rejection', { outcome: 'rejected', feedback: 'do less' }],
  ])('[WR-21] %s, repeated, answers 200 with the first one', async (_what, body) => {
    const record = await world.submit(teammate);
    const first = await world.decide(lead, record, body);
    const again = await world.decide(lead, record, body);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.json.decision).toEqual(first.json.decision);
  });

  it.each([
    ['outcome', { outcome: 'rejected', feedback: 'no' }],
    ['mode', { permissionMode: 'default' }],
    ['context', { permissionMode: 'acceptEdits', context: 'clear' }],
    ['digest', { permissionMode: 'acceptEdits', planDigest: `sha256:${'0'.repeat(64)}` }],
    ['edit', { permissionMode: 'acceptEdits', planContent: 'edited' }],
    ['scope', { permissionMode: 'acceptEdits', scope: { write: [], run: [], tools: [] } }],
    ['feedback', { permissionMode: 'acceptEdits', feedback: 'well done' }],
  ])('[WR-21] a decision of another %s is told the one that stands', async (_what, body) => {
    const record = await world.submit(teammate);
    const first = await world.decide(lead, record, { permissionMode: 'acceptEdits' });
    const answer = await world.decide(lead, record, body);
    expect([answer.status, answer.json.code]).toEqual([409, 'already_decided']);
    expect(answer.json.current).toMatchObject({
      requestId: record.requestId,
      state: 'approved',
      ...first.json.decision,
    });
  });

  it('[WR-21] another lead in the same words is told the one that stands', async () => {
    const record = await world.submit(teammate);
    await world.decide(lead, record);
    const answer = await world.decide(await world.token({ principal: 'local:second' }), record);
    expect([answer.status, answer.json.current.decidedBy]).toEqual([409, 'local:lead']);
  });

  it('[WR-22] a decision names the plan that was read', async () => {
    const record = await world.submit(teammate);
    const answer = await world.decide(lead, record, { planDigest: `sha256:${'1'.repeat(64)}` });
    expect([answer.status, answer.json.code, answer.json.current.planDigest]).toEqual([
      409,
      'stale_plan',
      planDigest,
    ]);
    expect((await world.call(world.path(record.requestId), { token: lead })).json.state).toBe('pending');
  });

  it('[I2] of 50 leads at one moment one decides, and every other is told what stands', async () => {
    const leads = await Promise.all(
      Array.from({ length: 50 }, (_, index) => world.token({ principal: `local:lead-${index}` })),
    );
    for (let round = 0; round < 4; round++) {
      const record = await world.submit(teammate);
      const answers = await Promise.all(
        leads.map((token, index) =>
          world.decide(token, record, index % 2 === 0 ? {} : { outcome: 'rejected', feedback: 'no' }),
        ),
      );
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      const stands = winners[0]?.json.decision;
      for (const loser of answers.filter(({ status }) => status !== 200)) {
        expect([loser.status, loser.json.code]).toEqual([409, 'already_decided']);
        expect(loser.json.current).toMatchObject(stands);
      }
      expect((await world.call(world.path(record.requestId), { token: lead })).json.decision).toEqual(stands);
    }
  });
});

describe('the mode that is granted', () => {
  it('[TM-30] is what the decision says, or the one from before planning', async () => {
    const record = await world.submit(teammate, { prePlanMode: 'auto' });
    expect(
      (await world.decide(lead, record, { permissionMode: 'restore' })).json.decision.permissionMode,
    ).toBe('auto');
    const other = await world.submit(teammate, { prePlanMode: 'auto' });
    expect((await world.decide(lead, other)).json.decision.permissionMode).toBe('default');
  });

  it("[TM-30] absent, is the lead's own, as it last said", async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url, config: { leadMode: 'dontAsk' } });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const granted = async () =>
      (await own.decide(token, await own.submit(submitter))).json.decision.permissionMode;
    const say = (by: string, mode: string) =>
      own.call(`/v1/teams/${own.team}/messages`, {
        token: by,
        body: { to: 'worker', message: { type: 'mode_changed', mode } },
      });
    expect(await granted()).toBe('dontAsk');
    expect((await say(token, 'acceptEdits')).status).toBe(201);
    expect(await granted()).toBe('acceptEdits');
    await say(submitter, 'bypassPermissions');
    expect(await granted()).toBe('acceptEdits');
    await say(token, 'plan');
    expect(await granted()).toBe('default');
    expect((await say(token, 'godMode')).status).toBe(400);
    await own.close();
  });

  it('[IN-6] a mode that stands in the store without the lead’s signature is granted to nobody, and raises an alarm', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url });
    const elsewhere = await LeadWorld.open({ redisUrl: redis.url });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const by = { mode: 'bypassPermissions' as const, by: 'local:lead' };
    const forgeries = [
      'bypassPermissions',
      await createLeadMode(await elsewhere.keyRing.activeSigner(), { team: own.team, ...by }, Date.now()),
      await createLeadMode(await own.keyRing.activeSigner(), { team: 'another', ...by }, Date.now()),
    ];
    for (const forgery of forgeries) {
      await own.handle.redis.set(`placet:{${own.team}}:lead:mode`, forgery);
      const { json } = await own.decide(token, await own.submit(submitter));
      expect(json.decision.permissionMode).toBe('default');
    }
    expect((await own.call('/metrics')).text).toContain('placet_alarms_total{code="lead_mode_unproven"} 3');
    await own.close();
    await elsewhere.close();
  });

  it('[TM-30] above the ceiling of the team or the job is refused, not lowered', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url, config: { permissionCeiling: 'auto' } });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const record = await own.submit(submitter, { prePlanMode: 'bypassPermissions' });
    for (const permissionMode of ['bypassPermissions', 'restore'])
      expect((await own.decide(token, record, { permissionMode })).json.code).toBe('mode_not_allowed');
    const sessionId = 'session-of-a-job';
    const job = {
      task: 't',
      team: own.team,
      cwd: '/tmp',
      agent: 'codemod',
      permissionCeiling: 'acceptEdits' as const,
    };
    await own.mailbox.tasks.open({ team: own.team, teammate: 'worker', sessionId }, job);
    const bound = await own.submit(submitter, { sessionId });
    expect((await own.decide(token, bound, { permissionMode: 'auto' })).json.code).toBe('mode_not_allowed');
    expect((await own.decide(token, bound, { permissionMode: 'dontAsk' })).status).toBe(200);
    await own.close();
  });
});

describe('who may decide', () => {
  it('[TM-32] the owner may not, with any outcome, while another lead may', async () => {
    const owner = await world.token({ principal: 'local:owner-of-worker' });
    const record = await world.submit(teammate);
    for (const body of [{}, { outcome: 'rejected', feedback: 'no' }]) {
      const answer = await world.decide(owner, record, body);
      expect([answer.status, answer.json.code]).toEqual([403, 'self_approval_forbidden']);
    }
    expect((await world.decide(lead, record)).status).toBe(200);
  });

  it('[IN-6] an owner that stands in the store without the lead’s signature lends it nothing, and raises an alarm', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url });
    const stranger = await LeadWorld.open({ redisUrl: redis.url });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const genuine = await own.submit(submitter);
    const strangers = await stranger.keyRing.activeSigner();
    const proofs = [
      await createOwnerProof(strangers, { team: own.team, teammate: 'worker', owner: 'local:x' }, Date.now()),
      await createOwnerProof(
        await own.keyRing.activeSigner(),
        { team: own.team, teammate: 'other', owner: 'local:x' },
        Date.now(),
      ),
      'local:x',
      '',
    ];
    for (const proof of proofs) {
      await own.handle.redis.set(`placet:{${own.team}}:m.worker:owner`, proof);
      expect((await own.decide(token, genuine)).json.code).toBe('self_approval_forbidden');
    }
    await own.handle.redis.del(`placet:{${own.team}}:m.worker:owner`);
    expect((await own.decide(token, genuine)).json.code).toBe('self_approval_forbidden');
    const { events } = await own.mailbox.events.read(own.team, undefined, 100);
    expect(events.filter(({ type, code }) => type === 'alarm' && code === 'owner_unproven')).toHaveLength(5);
    expect((await own.call('/metrics')).text).toContain('placet_alarms_total{code="owner_unproven"} 5');
    await own.close();
    await stranger.close();
  });

  it('[WR-32] a token that was revoked is refused from then on', async () => {
    const token = await world.token({ principal: 'local:leaver' });
    expect((await world.call(world.path(), { token })).status).toBe(200);
    const [, payload = ''] = token.split('.');
    await world.revocations.revoke(JSON.parse(Buffer.from(payload, 'base64url').toString()).jti);
    expect((await world.call(world.path(), { token })).status).toBe(401);
  });
});

async function verified(record: RequestRecord, approved: string) {
  const verifier = new DecisionVerifier({ keys: world.keyRing });
  return verifier.verify({
    record,
    own: ownRequestOf(record),
    approvedPlan: new TextEncoder().encode(approved),
    nowMs: Date.now(),
    claimedBefore: false,
  });
}
