import { digestOfText, RequestRecord, RequestWithPlan } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { LeadWorld, plan, planDigest, submission, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

const redis = useLead({}, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

describe('submitting', () => {
  it('[WR-26] a submission answers 201, its place, and a record of the contract', async () => {
    const body = submission(world.team, { labels: { risk: 'low' }, prePlanMode: 'acceptEdits' });
    const answer = await world.call(world.path(), { token: teammate, body });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(world.path(body.requestId));
    expect(RequestRecord.parse(answer.json)).toMatchObject({
      v: 1,
      requestId: body.requestId,
      team: world.team,
      teammate: 'worker',
      owner: 'local:owner-of-worker',
      state: 'pending',
      revision: 1,
      work: { state: 'none' },
      plan: { digest: planDigest, path: body.planFilePath, chars: plan.length, bytes: plan.length },
      prePlanMode: 'acceptEdits',
      executionTarget: 'local',
      labels: { risk: 'low' },
      votes: [],
    });
  });

  it('[WR-26] the request is in the inbox of the lead, and acknowledging it decides and removes nothing', async () => {
    const record = await world.submit(teammate);
    const read = async () => {
      const { json } = await world.call(`/v1/teams/${world.team}/inbox/team-lead?limit=200`, { token: lead });
      return json.entries.find(
        (entry: { message: { requestId?: string } }) => entry.message.requestId === record.requestId,
      );
    };
    const entry = await read();
    expect(entry).toMatchObject({
      from: 'worker',
      to: 'team-lead',
      message: {
        type: 'plan_approval_request',
        requestId: record.requestId,
        planContent: plan,
        planDigest,
        team: world.team,
      },
    });
    await world.call(`/v1/teams/${world.team}/inbox/team-lead/ack`, {
      token: lead,
      body: { ids: [entry.id] },
    });
    expect(await read()).toEqual(entry);
    expect((await world.call(world.path(record.requestId), { token: lead })).json.state).toBe('pending');
    await world.decide(lead, record);
    expect(await read()).toBeUndefined();
  });

  it('[WR-23] the same submission again answers 200 with the same record, whatever its times', async () => {
    const body = submission(world.team, { timestamp: '2026-01-01T00:00:00.000Z', deadlineMs: 60_000 });
    const first = await world.call(world.path(), { token: teammate, body });
    const again = await world.call(world.path(), {
      token: teammate,
      body: { ...body, timestamp: '2026-02-01T00:00:00.000Z', deadlineMs: 90_000 },
    });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.json).toEqual(first.json);
  });

  it.each([
    ['another plan', { planContent: 'other' }],
    ['another session', { sessionId: 'other' }],
    ['another revision', { revision: 2 }],
    ['another predecessor', { supersedes: 'other' }],
    ['another target', { executionTarget: 'remote' }],
  ])('[WR-23] %s under the same ID is refused', async (_what, changes) => {
    const body = submission(world.team);
    await world.call(world.path(), { token: teammate, body });
    const answer = await world.call(world.path(), { token: teammate, body: { ...body, ...changes } });
    expect([answer.status, answer.json.code]).toEqual([409, 'request_conflict']);
    expect((await world.call(world.path(body.requestId), { token: teammate })).json.plan.digest).toBe(
      planDigest,
    );
  });

  it('[WR-23] another teammate under the same foreign ID is refused, and is told nothing of the first', async () => {
    const requestId = `foreign-${Date.now()}`;
    await world.call(world.path(), { token: teammate, body: submission(world.team, { requestId }) });
    const other = await world.teammateToken('other');
    const answer = await world.call(world.path(), {
      token: other,
      body: submission(world.team, { requestId, planContent: 'x' }),
    });
    expect([answer.status, answer.json.code]).toEqual([409, 'request_conflict']);
    expect(answer.text).not.toContain('worker');
    expect((await world.call(world.path(requestId), { token: other })).status).toBe(404);
  });

  it('[WR-23] a new request of a session supersedes its pending predecessor', async () => {
    const first = await world.submit(teammate);
    const second = await world.submit(teammate, {
      sessionId: first.sessionId,
      revision: 2,
      supersedes: first.requestId,
      planContent: 'better',
    });
    const { json } = await world.call(world.path(first.requestId), { token: teammate });
    expect(json).toMatchObject({ state: 'superseded', supersededBy: second.requestId });
    const refused = await world.decide(lead, first);
    expect(refused.json).toMatchObject({
      code: 'superseded',
      current: { state: 'superseded', supersededBy: second.requestId },
    });
  });

  it('[WR-24] the deadline is the one that was asked for, else the configured one, and ends the request', async () => {
    const quick = await world.submit(teammate, { deadlineMs: 1000 });
    const usual = await world.submit(teammate);
    const lasts = (record: RequestRecord) => Date.parse(record.deadline) - Date.parse(record.submittedAt);
    expect([lasts(quick), lasts(usual)]).toEqual([1000, 24 * 60 * 60 * 1000]);
    const ended = await world.call(world.path(quick.requestId, '/wait?timeoutMs=20000'), { token: teammate });
    expect([ended.status, ended.json.state]).toEqual([200, 'timeout']);
    const late = await world.decide(lead, quick);
    expect(late.json).toMatchObject({
      code: 'already_decided',
      current: { state: 'timeout', outcome: 'timeout' },
    });
  });

  it('[WR-25] the same plan again, while its approval stands, is that approval under its old ID', async () => {
    const first = await world.submit(teammate);
    await world.decide(lead, first);
    const again = await world.call(world.path(), {
      token: teammate,
      body: submission(world.team, { sessionId: first.sessionId, revision: 2 }),
    });
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ requestId: first.requestId, state: 'approved' });
  });
});

describe('reading', () => {
  it.each([
    'a/b/c',
    '../../secrets',
    'a%2Fb',
    '%2e%2e',
    '100%',
    'x?state=pending',
    'x#fragment',
    'plan_approval-1@worker@main',
    "it's;a=b&c,d",
    '"quoted"<tag>',
    'a\\b|c^d`e{f}',
    '...',
    'decision',
    '*',
    '%',
    `${'/'.repeat(255)}x`,
    '~'.repeat(256),
  ])('[WR-2] the foreign ID %s is taken, and found under its percent-encoding', async (requestId) => {
    const record = await world.submit(teammate, { requestId });
    expect(record.requestId).toBe(requestId);
    const shown = await world.call(world.path(requestId), { token: lead });
    expect([shown.status, shown.json.requestId]).toEqual([200, requestId]);
    expect((await world.call(world.path(requestId, '/plan'), { token: lead })).text).toBe(plan);
    const decided = await world.decide(lead, record);
    expect([decided.status, decided.json.requestId]).toEqual([200, requestId]);
    expect(
      (await world.call(world.path(requestId, '/wait?timeoutMs=0'), { token: teammate })).json.requestId,
    ).toBe(requestId);
  });

  it.each(['', '.', '..', 'a b', 'a\tb', 'a\nb', 'ä', '\u202e', 'x'.repeat(257)])(
    '[WR-2] the ID %j is refused',
    async (requestId) => {
      const answer = await world.call(world.path(), {
        token: teammate,
        body: submission(world.team, { requestId }),
      });
      expect([answer.status, answer.json.issues.map((issue: { path: string }) => issue.path)]).toEqual([
        400,
        expect.arrayContaining(['requestId']),
      ]);
    },
  );

  it('[WR-27] a request is shown with its plan', async () => {
    const record = await world.submit(teammate);
    for (const token of [lead, teammate]) {
      const shown = RequestWithPlan.parse((await world.call(world.path(record.requestId), { token })).json);
      expect(shown).toEqual({ ...record, planContent: plan });
    }
  });

  it('[IN-5] the plan is its exact bytes, under its digest', async () => {
    const planContent = '\uFEFF# Plan\r\n\n\u202Etrick ž 漢 😀\n\n\n';
    const record = await world.submit(teammate, { planContent });
    const response = await fetch(world.url + world.path(record.requestId, '/plan'), {
      headers: { authorization: `Bearer ${lead}` },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/markdown/);
    expect(response.headers.get('etag')).toBe(`"${digestOfText(planContent)}"`);
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(planContent))).toBe(true);
  });

  it('a plan that is known already is not sent again', async () => {
    const record = await world.submit(teammate);
    const read = (tag: string) =>
      world.call(world.path(record.requestId, '/plan'), { token: lead, headers: { 'if-none-match': tag } });
    for (const tag of [`"${planDigest}"`, `W/"${planDigest}"`, `"x", "${planDigest}"`, '*']) {
      const answer = await read(tag);
      expect([tag, answer.status, answer.text]).toEqual([tag, 304, '']);
      expect(answer.headers.get('etag')).toBe(`"${planDigest}"`);
    }
    expect((await read('"x"')).status).toBe(200);
  });

  it('[WR-33] pages hold every request once, though some arrive and end meanwhile', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const submitted: RequestRecord[] = [];
    for (let count = 0; count < 25; count++) submitted.push(await own.submit(submitter));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await own.call(
        `${own.path()}?limit=4${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        { token },
      );
      expect(page.status).toBe(200);
      seen.push(...page.json.requests.map((record: RequestRecord) => record.requestId));
      cursor = page.json.nextCursor;
      await own.submit(submitter);
      const [next] = submitted.filter(({ requestId }) => !seen.includes(requestId));
      if (next && seen.length % 8 === 4) await own.decide(token, next);
    } while (cursor !== undefined);
    const old = submitted.map(({ requestId }) => requestId).reverse();
    expect(seen.filter((id) => old.includes(id))).toEqual(old);
    expect(new Set(seen).size).toBe(seen.length);
    await own.close();
  });

  it('[WR-33] a list is narrowed by state and teammate', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url });
    const [token, one, two] = [
      await own.token(),
      await own.teammateToken('one'),
      await own.teammateToken('two'),
    ];
    const decided = await own.submit(one, {}, 'one');
    await own.decide(token, decided, { outcome: 'rejected', feedback: 'no' });
    const pending = await own.submit(one, {}, 'one');
    const other = await own.submit(two, {}, 'two');
    const list = async (query: string) => {
      const { json } = await own.call(`${own.path()}?${query}`, { token });
      return json.requests.map((record: RequestRecord) => record.requestId);
    };
    expect(await list('state=pending')).toEqual([other.requestId, pending.requestId]);
    expect(await list('state=rejected')).toEqual([decided.requestId]);
    expect(await list('teammate=one')).toEqual([pending.requestId, decided.requestId]);
    expect(await list('teammate=two&state=pending')).toEqual([other.requestId]);
    expect(await list('teammate=none')).toEqual([]);
    await own.close();
  });
});
