import {
  isPlacetError,
  maxJsonDepth,
  PlacetError,
  Problem,
  type Role,
  type TokenClaims,
} from '@placet/protocol';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from './http-app.ts';
import { LeadMetrics } from './metrics.ts';
import { registerAuth } from './plugins/auth.ts';
import { parseBody } from './plugins/json-body.ts';
import { registerRateLimit } from './plugins/rate-limit.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('what a body may hold', () => {
  it.each([
    ['malformed JSON', bytes('{"a":'), ['(body)']],
    ['what follows the JSON', bytes('{} {}'), ['(body)']],
    ['a NUL character', bytes('{"a":[{"b":"x\\u0000"}]}'), ['a.0.b']],
    ['a lone surrogate', bytes('{"a":"\\ud800"}'), ['a']],
    ['a lone surrogate in a key', bytes('{"a":{"\\udc00":1}}'), ['a']],
    ['__proto__', bytes('{"a":{"__proto__":{}}}'), ['a.__proto__']],
    ['constructor', bytes('{"constructor":1}'), ['constructor']],
    ['prototype', bytes('{"x":{"prototype":1}}'), ['x.prototype']],
    ['a key twice', bytes('{"a":1,"a":2}'), ['a']],
    ['two faults', bytes('{"a":"\\u0000","b":"\\u0000"}'), ['b', 'a']],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), ['(body)']],
    ['UTF-8 of a surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), ['(body)']],
    ['an overlong NUL', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), ['(body)']],
  ])('[WR-31] not %s', (_what, body, paths) => {
    const error = thrownBy(() => parseBody(body));
    expect(error.code).toBe('validation_failed');
    expect(error.issues?.map(({ path }) => path)).toEqual(paths);
  });

  it('[WR-31] not more than its levels, at any size', () => {
    const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth));
    expect(parseBody(nested(maxJsonDepth))).toBeDefined();
    expect(thrownBy(() => parseBody(nested(maxJsonDepth + 1))).code).toBe('validation_failed');
    expect(thrownBy(() => parseBody(nested(2_000_000))).code).toBe('validation_failed');
  });

  it('[WR-31] not a multitude of values, each of which would cost to be checked', () => {
    const members = (count: number) =>
      bytes(`{${Array.from({ length: count }, (_, at) => `"k${at}":"a,b"`).join()}}`);
    expect(parseBody(members(10_000))).toBeDefined();
    expect(thrownBy(() => parseBody(members(10_001)))).toMatchObject({
      code: 'validation_failed',
      issues: [{ path: '(body)', message: 'holds more than 10000 values' }],
    });
  });

  it('[IN-24] what is refused is not quoted', () => {
    expect(thrownBy(() => parseBody(bytes('{"planContent":"my secret plan'))).message).not.toContain(
      'secret',
    );
  });

  it('[WR-31] pairs of surrogates and text of any language are taken', () => {
    expect(parseBody(bytes('{"a":"\\ud83d\\ude00 ž 漢"}'))).toEqual({ a: '😀 ž 漢' });
  });
});

describe('answers to calls that go wrong', () => {
  it.each([
    ['an unknown route', { url: '/nothing' }, 404, 'not_found'],
    ['another method', { method: 'PUT', url: '/echo' }, 404, 'not_found'],
    ['an URL that is no percent-encoding', { url: '/%ff%' }, 400, 'validation_failed'],
    ['another media type', post('text/plain', 'x'), 400, 'validation_failed'],
    ['no media type', { method: 'POST', url: '/echo', payload: Buffer.from('{}') }, 400, 'validation_failed'],
    ['an empty body', post('application/json', ''), 400, 'validation_failed'],
    ['malformed JSON', post('application/json', '{'), 400, 'validation_failed'],
    ['a wrong type', post('application/json', '{"n":"1"}'), 400, 'validation_failed'],
    [
      'a body over the bound',
      post('application/json', `{"x":"${'y'.repeat(3000)}"}`),
      413,
      'payload_too_large',
    ],
    [
      'a plan over the bound',
      post('application/json', JSON.stringify({ n: 1, planContent: 'ž'.repeat(524_289) }), '/large'),
      413,
      'payload_too_large',
    ],
    ['an unsafe query', { url: '/echo?a=%00' }, 400, 'validation_failed'],
    ['what a library calls a bad call', { url: '/bad' }, 400, 'validation_failed'],
    ['a fault of ours', { url: '/broken' }, 500, 'internal'],
    ['something thrown that is no error', { url: '/odd' }, 500, 'internal'],
    ['a store that is away', { url: '/away' }, 503, 'store_unavailable'],
  ] as const)('[WR-30] %s is a problem of the catalogue', async (_what, call, status, code) => {
    const answer = await (await testApp()).inject(call);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    const problem = Problem.parse(answer.json());
    expect(problem).toMatchObject({ status, code, type: `urn:placet:error:${code}` });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).not.toMatch(/secret|\.ts:|\bat \//);
  });

  it('[WR-31] names each field that is wrong', async () => {
    const answer = await (await testApp()).inject(post('application/json', '{"n":"1","deep":[{"m":true}]}'));
    expect(Problem.parse(answer.json()).issues?.map(({ path }) => path)).toEqual(['n', 'deep.0.m']);
  });

  it('[WR-31] no call is answered by more than it sent', async () => {
    const deep = JSON.stringify(Array.from({ length: 400 }, () => ({})));
    const many = await (await testApp()).inject(post('application/json', `{"n":1,"deep":${deep}}`));
    expect(Problem.parse(many.json()).issues).toHaveLength(20);
    const long = await (await testApp()).inject(post('application/json', `{"n":1,"${'k'.repeat(2000)}":1}`));
    expect(long.statusCode).toBe(400);
    expect(long.body.length).toBeLessThan(1000);
    const unsafe = await (await testApp()).inject(
      post('application/json', `{"${'k'.repeat(2000)}":"\\u0000"}`),
    );
    expect(unsafe.statusCode).toBe(400);
    expect(unsafe.body.length).toBeLessThan(1000);
  });

  it('[WR-30] a store that is away says when to come back', async () => {
    const answer = await (await testApp()).inject({ url: '/away' });
    expect(answer.headers['retry-after']).toBe('3');
  });

  it('[IN-24] writing calls of one principal are bounded, reading ones and other principals are not', async () => {
    const app = await testApp();
    const call = (token: string, method: 'POST' | 'GET') =>
      app.inject({
        method,
        url: method === 'POST' ? '/v1/decide' : '/v1/list',
        headers: { authorization: `Bearer plt_${token}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { payload: '{}' }),
      });
    const statuses = [];
    for (let turn = 0; turn < 4; turn++) statuses.push((await call('lead', 'POST')).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await call('lead', 'POST');
    expect(refused.json()).toMatchObject({ code: 'rate_limited' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await call('lead', 'GET')).statusCode).toBe(200);
    expect((await call('lead2', 'POST')).statusCode).toBe(200);
  });

  it('[WR-32] without a good token the answer is 401 with a challenge, before the body is read', async () => {
    const app = await testApp();
    for (const authorization of [
      undefined,
      'plt_lead',
      'Basic plt_lead',
      'Bearer lead',
      'Bearer plt_lead x',
      'Bearer plt_bad',
      'Bearer',
    ]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/v1/decide',
        headers: {
          'content-type': 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
        payload: '{',
      });
      expect([authorization, answer.statusCode, answer.json().code]).toEqual([
        authorization,
        401,
        'unauthenticated',
      ]);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="placet"/);
    }
    const denied = await app.inject({
      method: 'POST',
      url: '/v1/decide',
      headers: { authorization: 'bearer plt_observer' },
      payload: '{',
    });
    expect(denied.json()).toMatchObject({ code: 'forbidden' });
  });
});

function post(type: string, payload: string, url = '/echo') {
  return { method: 'POST', url, headers: { 'content-type': type }, payload } as const;
}

async function testApp() {
  const app = createHttpApp({ log: pino({ level: 'silent' }), metrics: new LeadMetrics(), bodyLimit: 2048 });
  registerAuth(app, {
    metricsPublic: true,
    verify: async (token) => {
      const role = token.slice(4).replace(/\d/, '');
      if (role === 'bad') throw new PlacetError('unauthenticated', 'expired');
      return claims(token, role as Role);
    },
  });
  await registerRateLimit(app, 3);
  const body = z.strictObject({ n: z.number(), deep: z.array(z.object({ m: z.string() })).optional() });
  app.post('/echo', { schema: { body } }, async () => ({}));
  app.get('/echo', async () => ({}));
  app.post('/large', { bodyLimit: 4_000_000 }, async () => ({}));
  app.get('/broken', async () => {
    throw new TypeError('secret');
  });
  app.get('/bad', async () => {
    throw Object.assign(new Error('secret'), { statusCode: 400 });
  });
  app.get('/odd', async () => {
    // biome-ignore lint/style/useThrowOnlyError: what libraries may throw
    throw 'secret';
  });
  app.get('/away', async () => {
    throw new PlacetError('store_unavailable', 'away', { retryAfterMs: 2500 });
  });
  app.post('/v1/decide', { config: { routeName: 'decideRequest' } }, async () => ({}));
  app.get('/v1/list', { config: { routeName: 'listRequests' } }, async () => ({}));
  return app;
}

function claims(sub: string, role: Role): TokenClaims {
  return { v: 1, iss: 'placet', sub, jti: 'j', iat: 0, exp: 1, role, teams: ['main'], kind: 'person' };
}

function thrownBy(call: () => unknown): PlacetError {
  try {
    call();
  } catch (error) {
    if (isPlacetError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
