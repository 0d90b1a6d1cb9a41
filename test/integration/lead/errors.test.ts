import { errorCatalogue, maxPlanBytes, newRequestId, Problem } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type Answer, LeadWorld, submission, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

const redis = useLead({ permissionCeiling: 'acceptEdits' }, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

/** One way to each code that a route answers. */
const ways: [code: keyof typeof errorCatalogue, way: string, call: () => Promise<Answer>][] = [
  ['validation_failed', 'a field of another type', () => submit({ planContent: 7 })],
  [
    'validation_failed',
    'a body of another type',
    () => world.call(world.path(), { token: teammate, body: '[]' }),
  ],
  [
    'validation_failed',
    'malformed JSON',
    () => world.call(world.path(), { token: teammate, body: '{"planContent":' }),
  ],
  ['validation_failed', 'a field that a decision does not have', () => decide({ approve: true })],
  ['validation_failed', 'an outcome that only the clock gives', () => decide({ outcome: 'timeout' })],
  ['validation_failed', 'a mode that is none', () => decide({ permissionMode: 'plan' })],
  ['validation_failed', 'a teleport of a local plan', () => decide({ outcome: 'teleport' })],
  [
    'validation_failed',
    'a mode with a rejection',
    () => decide({ outcome: 'rejected', feedback: 'x', permissionMode: 'default' }),
  ],
  [
    'validation_failed',
    'a digest that is not the plan’s',
    () => submit({ planDigest: `sha256:${'0'.repeat(64)}` }),
  ],
  ['validation_failed', 'a sender that is not the token’s', () => submit({ from: 'other' })],
  ['validation_failed', 'a team that is not the path’s', () => submit({ team: 'other' })],
  [
    'validation_failed',
    'a native ID of another teammate',
    () => submit({ requestId: newRequestId('other', world.team) }),
  ],
  ['validation_failed', 'a deadline under a second', () => submit({ deadlineMs: 999 })],
  [
    'validation_failed',
    'a limit that is too high',
    () => world.call(`${world.path()}?limit=100000`, { token: lead }),
  ],
  [
    'validation_failed',
    'a state that is none',
    () => world.call(`${world.path()}?state=undecided`, { token: lead }),
  ],
  [
    'validation_failed',
    'a cursor that is none',
    () => world.call(`${world.path()}?cursor=%22%7B`, { token: lead }),
  ],
  [
    'validation_failed',
    'a wait that is too long',
    () => world.call(world.path('x', '/wait?timeoutMs=60001'), { token: lead }),
  ],
  ['validation_failed', 'an ID with white space', () => world.call(world.path('a b'), { token: lead })],
  [
    'validation_failed',
    'an ID of 257 characters',
    () => world.call(world.path('x'.repeat(257)), { token: lead }),
  ],
  [
    'validation_failed',
    'a path that is no percent-encoding',
    () => world.call(`${world.path()}/%E0%A4%A`, { token: lead }),
  ],
  [
    'validation_failed',
    'another media type',
    () => world.call(world.path(), { token: teammate, body: 'x', headers: { 'content-type': 'text/plain' } }),
  ],
  [
    'validation_failed',
    'a message that only the store writes',
    () => message({ type: 'plan_approval_response', approved: true }),
  ],
  ['unauthenticated', 'no token', () => world.call(world.path())],
  [
    'unauthenticated',
    'an expired token',
    async () =>
      world.call(world.path(), { token: await world.token({ nowMs: Date.now() - 2000, expiresInMs: 1000 }) }),
  ],
  [
    'unauthenticated',
    'a token of another key',
    async () => world.call(world.path(), { token: `${lead.slice(0, -4)}AAAA` }),
  ],
  ['forbidden', 'a teammate that decides', async () => world.decide(teammate, await world.submit(teammate))],
  [
    'forbidden',
    'a lead that submits',
    () => world.call(world.path(), { token: lead, body: submission(world.team) }),
  ],
  [
    'self_approval_forbidden',
    'the owner that decides',
    async () =>
      world.decide(await world.token({ principal: 'local:owner-of-worker' }), await world.submit(teammate)),
  ],
  ['not_found', 'an unknown request', () => world.call(world.path('unknown'), { token: lead })],
  [
    'not_found',
    'an unknown request that is decided',
    () =>
      world.call(world.path('unknown', '/decision'), {
        token: lead,
        body: { outcome: 'approved', planDigest: `sha256:${'0'.repeat(64)}` },
      }),
  ],
  ['not_found', 'another team', () => world.call('/v1/teams/other/requests', { token: lead })],
  ['not_found', 'an unknown route', () => world.call('/v1/nothing', { token: lead })],
  ['not_found', 'an unknown method', () => world.call(world.path(), { method: 'PATCH', token: lead })],
  [
    'already_decided',
    'a second decision',
    async () => {
      const record = await world.submit(teammate);
      await world.decide(lead, record);
      return world.decide(lead, record, { outcome: 'rejected', feedback: 'no' });
    },
  ],
  [
    'already_decided',
    'withdrawing what is decided',
    async () => {
      const record = await world.submit(teammate);
      await world.decide(lead, record);
      return world.call(world.path(record.requestId, '/withdraw'), { method: 'POST', token: teammate });
    },
  ],
  [
    'stale_plan',
    'a decision on another plan',
    async () => world.decide(lead, await world.submit(teammate), { planDigest: `sha256:${'0'.repeat(64)}` }),
  ],
  [
    'request_conflict',
    'other content under the same ID',
    async () => submit({ requestId: (await world.submit(teammate)).requestId, planContent: 'other' }),
  ],
  [
    'superseded',
    'a decision on what was superseded',
    async () => {
      const first = await world.submit(teammate);
      await world.submit(teammate, { sessionId: first.sessionId, revision: 2, planContent: 'better' });
      return world.decide(lead, first);
    },
  ],
  [
    'not_approved',
    'claiming what is pending',
    async () =>
      world.call(world.path((await world.submit(teammate)).requestId, '/claim'), {
        token: teammate,
        body: { holder: 'p' },
      }),
  ],
  [
    'epoch_stale',
    'settling under an epoch that is not',
    async () => {
      const record = await claimed();
      return world.call(world.path(record, '/settle'), {
        token: teammate,
        body: { epoch: 99, state: 'done' },
      });
    },
  ],
  [
    'session_busy',
    'claiming what another holds',
    async () =>
      world.call(world.path(await claimed(), '/claim'), { token: teammate, body: { holder: 'p2' } }),
  ],
  ['payload_too_large', 'a plan over 1 MiB', () => submit({ planContent: 'x'.repeat(maxPlanBytes + 1) })],
  [
    'payload_too_large',
    'a plan over 1 MiB of bytes, not characters',
    () => submit({ planContent: 'ž'.repeat(maxPlanBytes / 2 + 1) }),
  ],
  [
    'payload_too_large',
    'an edited plan over 1 MiB',
    () => decide({ planContent: 'x'.repeat(maxPlanBytes + 1) }),
  ],
  ['payload_too_large', 'a body over 4 MiB', () => submit({ filler: 'x'.repeat(4 * 1024 * 1024) })],
  [
    'plan_too_large_to_approve',
    'approving what cannot be shown',
    async () => world.decide(lead, await world.submit(teammate, { planContent: 'x'.repeat(200_001) })),
  ],
  ['mode_not_allowed', 'a mode above the ceiling', () => decide({ permissionMode: 'bypassPermissions' })],
  [
    'feedback_required',
    'a rejection without a reason',
    () => decide({ outcome: 'rejected', feedback: ' \n' }),
  ],
  ['plan_required', 'an empty plan', () => submit({ planContent: ' \n' })],
  ['plan_required', 'a plan that was edited away', () => decide({ planContent: '' })],
];

describe('each code of the catalogue that a route answers', () => {
  it.each(ways)('[WR-30] %s: %s', async (code, _way, call) => {
    const answer = await call();
    const problem = Problem.parse(answer.json);
    expect([problem.code, answer.status]).toEqual([code, errorCatalogue[code].status]);
    expect(problem).toMatchObject({
      status: answer.status,
      type: `urn:placet:error:${code}`,
      title: errorCatalogue[code].title,
    });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.text).not.toMatch(/node_modules|\.ts:\d/);
    if (code === 'validation_failed') expect(problem.issues?.length).toBeGreaterThan(0);
    if (
      errorCatalogue[code].status === 409 &&
      !['session_busy', 'epoch_stale', 'not_approved'].includes(code)
    )
      expect(problem.current).toMatchObject({ requestId: expect.any(String), state: expect.any(String) });
    if (code === 'unauthenticated') expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
  });

  it('[WR-30] rate_limited: more writing calls than the setting allows', async () => {
    const bounded = await LeadWorld.open({ redisUrl: redis.url, config: { rateLimitPerMinute: 2 } });
    const token = await bounded.teammateToken();
    const statuses = [];
    for (let turn = 0; turn < 3; turn++)
      statuses.push((await bounded.call(bounded.path(), { token, body: submission(bounded.team) })).status);
    expect(statuses).toEqual([201, 201, 429]);
    await bounded.close();
  });
});

function submit(changes: Record<string, unknown>): Promise<Answer> {
  return world.call(world.path(), { token: teammate, body: submission(world.team, changes) });
}

async function decide(body: Record<string, unknown>): Promise<Answer> {
  return world.decide(lead, await world.submit(teammate), body);
}

function message(content: Record<string, unknown>): Promise<Answer> {
  return world.call(`/v1/teams/${world.team}/messages`, {
    token: teammate,
    body: { to: 'team-lead', message: content },
  });
}

async function claimed(): Promise<string> {
  const record = await world.submit(teammate);
  await world.decide(lead, record);
  const answer = await world.call(world.path(record.requestId, '/claim'), {
    token: teammate,
    body: { holder: 'p1' },
  });
  if (answer.status !== 200) throw new Error(`not claimed: ${answer.text}`);
  return record.requestId;
}
