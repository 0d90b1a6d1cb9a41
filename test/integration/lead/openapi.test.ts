import { routes } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type LeadWorld, useLead } from './lead-world.ts';

let world: LeadWorld;

useLead({}, (opened) => {
  world = opened;
});

describe('the description of the service', () => {
  it('[2.4] is OpenAPI 3.1 with every route, made from the schemas', async () => {
    const { status, json } = await world.call('/openapi.json');
    expect([status, json.openapi]).toEqual([200, '3.1.0']);
    const described = Object.entries(json.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { operationId: string }>).map(([method, { operationId }]) => [
        // as OpenAPI has it
        operationId,
        method.toUpperCase(),
        path,
      ]),
    );
    const expected = Object.entries(routes).map(([name, { method, path }]) => [
      name,
      method,
      path.replace(/:([a-z]+)/g, '{$1}'),
    ]);
    expect(described.map(String).toSorted()).toEqual(expected.map(String).toSorted());
    const { post } = json.paths['/v1/teams/{team}/requests/{id}/decision'];
    const body = post.requestBody.content['application/json'].schema;
    expect(body.required).toEqual(['outcome', 'planDigest']);
    expect(body.properties.outcome.enum).toEqual(['approved', 'rejected', 'teleport']);
    expect(post.security).toEqual([{ token: [] }]);
    expect(json.paths['/healthz'].get.security).toBeUndefined();
  });

  it('[PM-15] says that an approval is no standing approval for any tool', async () => {
    const { json } = await world.call('/openapi.json');
    expect(json.paths['/v1/teams/{team}/requests/{id}/decision'].post.summary).toContain(
      'no standing approval',
    );
  });

  it('[2.4] can be browsed, with no script from elsewhere', async () => {
    const page = await world.call('/docs/');
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(page.text).not.toMatch(/src="https?:/);
    const [, script = ''] = /src="([^"]+\.js)"/.exec(page.text) ?? [];
    const loaded = await fetch(new URL(script, `${world.url}/docs/`));
    expect([loaded.status, (await loaded.text()).length > 0]).toEqual([200, true]);
  });

  it('[IN-24] answers tell browsers to keep, guess and frame nothing', async () => {
    for (const path of ['/healthz', '/v1/teams/x/requests', '/nothing']) {
      const { headers } = await world.call(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });

  it('[IN-4] the keys that are published are public ones', async () => {
    const { status, json } = await world.call('/.well-known/jwks.json');
    expect([status, json.keys.length]).toEqual([200, 1]);
    expect(json.keys[0]).toMatchObject({
      kty: 'OKP',
      crv: 'Ed25519',
      kid: expect.any(String),
      x: expect.any(String),
    });
    expect(json.keys[0].d).toBeUndefined();
  });

  it('[OP-5] metrics count requests, decisions, refusals, answers', async () => {
    const [teammate, lead] = [await world.teammateToken(), await world.token()];
    const record = await world.submit(teammate);
    await world.submit(teammate);
    await world.decide(lead, record);
    await world.decide(lead, record, { outcome: 'rejected', feedback: 'no' });
    const { text } = await world.call('/metrics');
    expect(text).toContain('placet_requests_total{outcome="submitted"} 2');
    expect(text).toContain('placet_requests_total{outcome="approved"} 1');
    expect(text).toContain(`placet_inbox_depth{team="${world.team}"} 1`);
    expect(text).toMatch(new RegExp(`placet_inbox_oldest_seconds\\{team="${world.team}"\\} 0\\.\\d`));
    expect(text).toContain('placet_decision_seconds_count 1');
    expect(text).toContain('placet_refusals_total{code="already_decided"} 1');
    expect(text).toContain(
      'placet_http_request_seconds_count{route="decideRequest",method="POST",status="200"} 1',
    );
  });
});
