import { accessTable } from '@placet/lead';
import { leadInboxName, newSessionId, type Role, type RouteName, routes } from '@placet/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { LeadWorld, planDigest, submission } from './lead-world.ts';

type Caller = Role | 'nobody' | 'another teammate' | 'a lead of another team';

const callers = [
  'lead',
  'teammate',
  'observer',
  'operator',
  'poller',
  'nobody',
  'another teammate',
  'a lead of another team',
] as const satisfies Caller[];
const names = Object.keys(routes) as RouteName[]; // the keys of the literal are the names of the routes

let redis: TestRedis;
let world: LeadWorld;
let closed: LeadWorld;
const tokens = new Map<Caller, string>();

beforeAll(async () => {
  redis = await startRedis();
  world = await LeadWorld.open({ redisUrl: redis.url });
  closed = await LeadWorld.open({ redisUrl: redis.url, config: { metricsPublic: false } });
  for (const role of ['lead', 'observer', 'operator', 'poller'] as const)
    tokens.set(role, await world.token({ role, principal: `test:${role}` }));
  tokens.set('teammate', await world.teammateToken());
  tokens.set('another teammate', await world.teammateToken('other'));
  tokens.set('a lead of another team', await world.token({ teams: ['elsewhere'] }));
});
afterAll(async () => {
  await world.close();
  await closed.close();
  await redis.stop();
});

describe('every route with every role', () => {
  it.each(names.flatMap((name) => callers.map((caller) => [name, caller] as const)))(
    '[IN-20] %s as %s answers what the table says',
    async (name, caller) => {
      const { path, body } = await callOf(name);
      const { method } = routes[name];
      const leaving = new AbortController();
      const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(10_000)]);
      const response = await fetch(world.url + path, {
        method,
        headers: {
          ...(caller !== 'nobody' && { authorization: `Bearer ${tokens.get(caller)}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      });
      const expected = expectedOf(name, caller);
      if (expected === 'allowed')
        expect([name, caller, response.status < 300 || response.status === 409]).toEqual([
          name,
          caller,
          true,
        ]);
      else expect([name, caller, response.status]).toEqual([name, caller, expected]);
      leaving.abort();
      await response.body?.cancel().catch(() => undefined); // aborted on purpose
    },
  );

  it('[IN-20] metrics that are not public need a role that the table names', async () => {
    const statusOf = async (spec?: Parameters<LeadWorld['token']>[0]) =>
      (await closed.call('/metrics', { token: spec && (await closed.token(spec)) })).status;
    expect(await statusOf()).toBe(401);
    expect(await statusOf({ role: 'poller' })).toBe(403);
    expect(await statusOf({ role: 'operator' })).toBe(200);
  });

  it('[IN-24] on whichever address it listens, nothing but the open routes answers without a token', async () => {
    const answers = await Promise.all(
      names.map(async (name) => [
        name,
        (await fetch(world.url + (await callOf(name)).path, { method: routes[name].method })).status,
      ]),
    );
    const open = answers.filter(([, status]) => status !== 401).map(([name]) => name);
    expect(open).toEqual(['jwks', 'healthz', 'readyz', 'metrics']);
  });
});

/** What the specification's table says, written down once more and by hand. */
function expectedOf(name: RouteName, caller: Caller): 'allowed' | 401 | 403 | 404 {
  const access: { open?: unknown; roles?: readonly Role[]; own?: string } = accessTable[name];
  if (access.open) return 'allowed';
  if (caller === 'nobody') return 401;
  if (caller === 'a lead of another team') return 404;
  const role = caller === 'another teammate' ? 'teammate' : caller;
  if (!allowed[name]?.includes(role)) return 403;
  if (caller === 'another teammate') {
    if (access.own === 'request') return 404;
    if (access.own === 'inbox') return 403;
  }
  // The inbox that is called for is the teammate's.
  if (access.own === 'inbox' && role === 'lead') return 403;
  return 'allowed';
}

const allowed: Partial<Record<RouteName, Role[]>> = {
  submitRequest: ['teammate'],
  listRequests: ['lead', 'observer'],
  showRequest: ['lead', 'observer', 'teammate'],
  readPlan: ['lead', 'observer', 'teammate'],
  awaitDecision: ['lead', 'observer', 'teammate'],
  decideRequest: ['lead'],
  withdrawRequest: ['teammate'],
  readInbox: ['teammate', 'lead'],
  acknowledge: ['teammate', 'lead'],
  sendMessage: ['teammate', 'lead'],
  listQuestions: ['lead'],
  answerQuestion: ['lead'],
  showPosture: ['lead'],
  enterPlanMode: ['lead'],
  exitPlanMode: ['lead'],
  followEvents: ['lead', 'observer'],
  claimWork: ['teammate'],
  sendReceipt: ['teammate'],
  settleWork: ['teammate'],
  reportPresence: ['teammate'],
  listPresence: ['lead', 'observer'],
};

/** A call that would succeed, but for who makes it, or conflict with the state of the request. */
async function callOf(name: RouteName): Promise<{ path: string; body?: unknown }> {
  const teammate = tokens.get('teammate') ?? '';
  const id = await idFor(routes[name].path, teammate);
  const path = routes[name].path
    .replace(':team', world.team)
    .replace(':id', encodeURIComponent(id))
    .replace(':agent', 'worker');
  const bodies: Partial<Record<RouteName, unknown>> = {
    submitRequest: submission(world.team, { requestId: `r-${Math.random()}` }),
    decideRequest: { outcome: 'rejected', planDigest, feedback: 'no' },
    acknowledge: { ids: ['1-0'] },
    answerQuestion: { answers: { 'Which?': { labels: ['a'] } } },
    sendMessage: { to: 'worker', message: { type: 'message', text: 'hello' } },
    claimWork: { holder: 'p1' },
    sendReceipt: { kind: 'delivered' },
    settleWork: { epoch: 1, state: 'done' },
    reportPresence: { process: 'p1' },
  };
  const query =
    name === 'awaitDecision' ? '?timeoutMs=0' : path.includes('/sessions/') ? '?teammate=worker' : '';
  return { path: path + query, body: bodies[name] };
}

/** What a path's `:id` can name. */
async function idFor(path: string, token: string): Promise<string> {
  if (path.includes('/questions/:id')) return ask(token);
  if (path.includes('/sessions/:id')) return freeSession(token);
  return path.includes(':id') ? (await world.submit(token)).requestId : '';
}

/** A session that may be told to leave plan mode. */
async function freeSession(token: string): Promise<string> {
  const { team, teammate, sessionId } = await world.submit(token);
  const report = { mode: 'plan', prePlanMode: 'default', planModeRequired: false } as const;
  await world.mailbox.sessions.report({ team, teammate, sessionId }, report);
  return sessionId;
}

async function ask(token: string): Promise<string> {
  const requestId = `question-${Math.random()}`;
  const questions = [{ question: 'Which?', header: 'Which', options: [{ label: 'a' }, { label: 'b' }] }];
  const message = { type: 'question_request', requestId, sessionId: newSessionId(), questions };
  const body = { to: leadInboxName, message };
  const { status } = await world.call(`/v1/teams/${world.team}/messages`, { token, body });
  if (status !== 201) throw new Error(`not asked: ${status}`);
  return requestId;
}
