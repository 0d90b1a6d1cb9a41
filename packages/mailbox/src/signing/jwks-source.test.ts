import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey, nowMs, type TestKey } from './decision-case.test.fixture.ts';
import { JwksSource, type JwksSourceOptions } from './jwks-source.ts';

let lead: TestKey;
let other: TestKey;
beforeAll(async () => {
  lead = await makeKey();
  other = await makeKey();
});

const jwkOf = ({ x, kid }: TestKey) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' });

/** A lead service far away, and a clock. */
function farLead(keys: () => unknown[]) {
  const far = {
    nowMs,
    calls: 0,
    down: false,
    status: 200,
    faults: [] as string[],
    text: () => JSON.stringify({ keys: keys() }),
  };
  const options: JwksSourceOptions = {
    clock: { now: () => far.nowMs },
    fetch: async () => {
      far.calls++;
      if (far.down) throw new TypeError('fetch failed');
      return new Response(far.text(), { status: far.status });
    },
    onFault: (detail) => far.faults.push(detail),
  };
  return { far, options };
}

const url = 'https://lead.example/.well-known/jwks.json';

describe('JwksSource with a URL', () => {
  it('[IN-2] needs thumbprints', () => {
    expect(() => new JwksSource({ url, thumbprints: [] })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });

  it('[IN-2] finds the keys that are pinned, and no other that is served', async () => {
    const { options } = farLead(() => [jwkOf(lead), jwkOf(other)]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, options);

    expect((await source.find(lead.kid)).kind).toBe('found');
    expect((await source.find(other.kid)).kind).toBe('unknown');
  });

  it("[IN-2] does not take a stranger's key under a pinned name", async () => {
    const { options } = farLead(() => [{ ...jwkOf(other), kid: lead.kid }]);

    expect((await new JwksSource({ url, thumbprints: [lead.kid] }, options).find(lead.kid)).kind).toBe(
      'unknown',
    );
  });

  it('[IN-7] reads again after 60 s and not before, so that a revoked key is gone', async () => {
    const served = [jwkOf(lead), jwkOf(other)];
    const { far, options } = farLead(() => served);
    const source = new JwksSource({ url, thumbprints: [lead.kid, other.kid] }, options);
    await source.find(lead.kid);
    served.shift();

    far.nowMs += 59_999;
    expect((await source.find(lead.kid)).kind).toBe('found');
    expect(far.calls).toBe(1);
    far.nowMs += 1;
    expect((await source.find(lead.kid)).kind).toBe('unknown');
    expect(far.calls).toBe(2);
  });

  it('[IN-7] refreshes at least every 60 s, whatever is configured', async () => {
    const { far, options } = farLead(() => [jwkOf(lead)]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, { ...options, refreshMs: 3_600_000 });
    await source.find(lead.kid);
    far.nowMs += 60_000;
    await source.find(lead.kid);

    expect(far.calls).toBe(2);
  });

  it('[IN-7] reads at once for a key it does not know, but at most once a second', async () => {
    const served = [jwkOf(lead)];
    const { far, options } = farLead(() => served);
    const source = new JwksSource({ url, thumbprints: [lead.kid, other.kid] }, options);
    await source.find(lead.kid);
    served.push(jwkOf(other));

    far.nowMs += 999;
    for (let round = 0; round < 100; round++) expect((await source.find(other.kid)).kind).toBe('unknown');
    expect(far.calls).toBe(1);
    far.nowMs += 1;
    expect((await source.find(other.kid)).kind).toBe('found');
    expect(far.calls).toBe(2);
  });

  it('[IN-7] keeps its keys for 10 minutes without the lead, then closes, and opens again with it', async () => {
    const { far, options } = farLead(() => [jwkOf(lead)]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, options);
    await source.find(lead.kid);
    far.down = true;

    far.nowMs += 10 * 60_000;
    expect((await source.find(lead.kid)).kind).toBe('found');
    far.nowMs += 1000;
    expect((await source.find(lead.kid)).kind).toBe('unreachable');
    expect(far.faults.at(-1)).toBe('https://lead.example cannot be reached');
    far.down = false;
    far.nowMs += 1000;
    expect((await source.find(lead.kid)).kind).toBe('found');
  });

  it('[IN-7] is closed while it has never read the keys, and where the clock was set back', async () => {
    const { far, options } = farLead(() => [jwkOf(lead)]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, options);
    far.down = true;
    expect((await source.find(lead.kid)).kind).toBe('unreachable');
    far.down = false;
    far.nowMs += 1000;
    expect((await source.find(lead.kid)).kind).toBe('found');
    far.down = true;
    far.nowMs -= 3_600_000;
    expect((await source.find(lead.kid)).kind).toBe('unreachable');
  });

  it.each<[string, string]>([
    ['not JSON', '<html>'],
    ['no key set', '[]'],
    ['an answer without end', `{"keys":["${'x'.repeat(300_000)}"]}`],
  ])('[IN-7] counts %s as not reached', async (_what, text) => {
    const { far, options } = farLead(() => []);
    far.text = () => text;

    expect((await new JwksSource({ url, thumbprints: [lead.kid] }, options).find(lead.kid)).kind).toBe(
      'unreachable',
    );
    expect(far.faults).toHaveLength(1);
  });

  it('leaves out keys of kinds it does not know, and errors of the service are no keys', async () => {
    const { far, options } = farLead(() => [
      { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'rsa' },
      7,
      jwkOf(lead),
    ]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, options);
    far.status = 500;
    expect((await source.find(lead.kid)).kind).toBe('unreachable');
    far.status = 200;
    far.nowMs += 1000;

    expect((await source.find(lead.kid)).kind).toBe('found');
  });

  it('asks once for all who wait', async () => {
    const { far, options } = farLead(() => [jwkOf(lead)]);
    const source = new JwksSource({ url, thumbprints: [lead.kid] }, options);
    await Promise.all(Array.from({ length: 50 }, () => source.find(lead.kid)));

    expect(far.calls).toBe(1);
  });
});
