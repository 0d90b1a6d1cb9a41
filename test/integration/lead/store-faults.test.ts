import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import { type Answer, LeadWorld, planDigest, submission } from './lead-world.ts';

const storeTimeoutMs = 500;
/** A call makes more than one store call at most in turn before it gives up: authentication, reading. */
const answersWithinMs = 4 * storeTimeoutMs;

let redis: OwnRedis;
let world: LeadWorld;
let lead: string;
let teammate: string;

beforeAll(async () => {
  redis = await startOwnRedis();
});
afterAll(async () => {
  await redis.stop();
});
beforeEach(async () => {
  world = await LeadWorld.open({ redisUrl: redis.url, storeTimeoutMs });
  lead = await world.token();
  teammate = await world.teammateToken();
  await isReady();
});
afterEach(async () => {
  await world.close();
});

describe('a store that does not answer', () => {
  it('[OP-6] paused: every route that needs it answers 503 in time, and all is well when it goes on', async () => {
    const record = await world.submit(teammate);
    redis.pause();
    try {
      for (const call of everyCall(record.requestId)) expect(await refusalOf(call)).toEqual(unavailable);
      expect((await world.call('/healthz')).status).toBe(200);
      expect(await world.call('/readyz')).toMatchObject({ status: 503, json: { status: 'unavailable' } });
    } finally {
      redis.resume();
    }
    await isReady();
    expect((await world.decide(lead, record)).status).toBe(200);
  });

  it('[OP-6] killed and started again: 503 meanwhile, then as before, with nothing lost', async () => {
    const record = await world.submit(teammate);
    await eventually(async () =>
      (await world.handle.redis.info('persistence')).includes('aof_pending_bio_fsync:0'),
    );
    await redis.kill9();
    for (const call of everyCall(record.requestId)) expect(await refusalOf(call)).toEqual(unavailable);
    await redis.restart();
    await isReady();
    expect((await world.call(world.path(record.requestId), { token: lead })).json.state).toBe('pending');
    expect((await world.decide(lead, record)).status).toBe(200);
  });

  it('[OP-6] an uncertain decision, repeated when the store is back, is answered with the one that stands', async () => {
    const record = await world.submit(teammate);
    redis.pause();
    const uncertain = await world.decide(lead, record, { permissionMode: 'acceptEdits' });
    redis.resume();
    expect(uncertain.json.code).toBe('store_unavailable');
    await isReady();
    const repeated = await eventually(async () => {
      const answer = await world.decide(lead, record, { permissionMode: 'acceptEdits' });
      return answer.status === 200 && answer;
    });
    const shown = await world.call(world.path(record.requestId), { token: lead });
    expect(repeated.json.decision).toEqual(shown.json.decision);
  });

  it('[OP-6] a wait that began before the store was away ends with what was decided after', async () => {
    const record = await world.submit(teammate);
    const wait = world.call(world.path(record.requestId, '/wait?timeoutMs=30000'), { token: teammate });
    await eventually(async () =>
      (await world.call('/metrics')).text.includes('placet_open_streams{kind="wait"} 1'),
    );
    await eventually(async () =>
      (await world.handle.redis.info('persistence')).includes('aof_pending_bio_fsync:0'),
    );
    await redis.kill9();
    await redis.restart();
    await isReady();
    await world.decide(lead, record);
    expect(await wait).toMatchObject({ status: 200, json: { state: 'approved' } });
  });

  it('[I8] what the store refused is counted, and said once', async () => {
    await redis.kill9();
    await refusalOf(() => world.call(world.path(), { token: lead }));
    await redis.restart();
    await isReady();
    const { text } = await world.call('/metrics');
    expect(text).toMatch(/placet_store_errors_total [1-9]/);
    expect(text).toMatch(/placet_refusals_total\{code="store_unavailable"\} [1-9]/);
  });
});

describe('a stop', () => {
  it('[OP-6] answers a decision that was in flight when it began', async () => {
    const record = await world.submit(teammate);
    redis.pause();
    const arrived = new Promise((resolve) => world.lead.app.server.once('request', resolve));
    const decision = world.decide(lead, record);
    await arrived;
    const closed = world.lead.close();
    await expect(world.call('/healthz')).rejects.toThrow();
    redis.resume();
    expect(await decision).toMatchObject({ status: 200, json: { state: 'approved' } });
    await closed;
  });

  it('[OP-6] is not held up by a connection that nobody uses', async () => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket, 'close');
    const began = performance.now();
    await world.lead.close();
    await ended;
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe('a store that is not there yet', () => {
  it('[OP-6] the service starts, says so, and works as soon as it is', async () => {
    await redis.kill9();
    const early = await LeadWorld.open({ redisUrl: redis.url, storeTimeoutMs });
    expect((await early.call('/healthz')).status).toBe(200);
    expect((await early.call('/readyz')).status).toBe(503);
    expect((await early.call('/.well-known/jwks.json')).status).toBe(200);
    const token = await early.teammateToken();
    const refused = await early.call(early.path(), { token, body: submission(early.team) });
    expect([refused.status, refused.json.code]).toEqual([503, 'store_unavailable']);
    await redis.restart();
    await eventually(async () => (await early.call('/readyz')).status === 200);
    expect((await early.call(early.path(), { token, body: submission(early.team) })).status).toBe(201);
    await early.close();
  });

  it('[OP-6] the service stops in order while it is away', async () => {
    await redis.kill9();
    const early = await LeadWorld.open({ redisUrl: redis.url, storeTimeoutMs });
    const began = performance.now();
    await early.close();
    expect(performance.now() - began).toBeLessThan(5000);
    await redis.restart();
  });
});

const unavailable = { status: 503, code: 'store_unavailable', inTime: true, retryAfter: true };

async function refusalOf(call: () => Promise<Answer>) {
  const began = performance.now();
  const { status, json, headers } = await call();
  const inTime = performance.now() - began < answersWithinMs;
  return { status, code: json.code, inTime, retryAfter: Number(headers.get('retry-after')) > 0 };
}

function everyCall(requestId: string): (() => Promise<Answer>)[] {
  const of = (rest: string, token: string, body?: unknown) => () =>
    world.call(world.path(requestId, rest), { token, body });
  const team = (rest: string, token: string, body?: unknown) => () =>
    world.call(`/v1/teams/${world.team}${rest}`, { token, body });
  return [
    team('/requests', teammate, submission(world.team)),
    team('/requests', lead),
    of('', lead),
    of('/plan', lead),
    of('/wait?timeoutMs=1000', lead),
    of('/decision', lead, { outcome: 'approved', planDigest }),
    of('/withdraw', teammate, {}),
    team('/inbox/team-lead', lead),
    team('/inbox/worker/ack', teammate, { ids: ['1-0'] }),
    team('/messages', lead, { to: 'worker', message: { type: 'message', text: 'x' } }),
    team('/events', lead),
    of('/claim', teammate, { holder: 'p' }),
    of('/receipt', teammate, { kind: 'delivered' }),
    of('/settle', teammate, { epoch: 1, state: 'done' }),
    team('/presence', teammate, { process: 'p' }),
    team('/presence', lead),
  ];
}

async function isReady(): Promise<void> {
  await eventually(async () => (await world.call('/readyz')).status === 200, { what: 'readiness' });
}
