import { createHmac } from 'node:crypto';
import { decisionType } from '@placet/protocol';
import { CompactSign } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  claimsIn,
  type DecisionCase,
  decidedCase,
  makeKey,
  type TestKey,
} from './decision-case.test.fixture.ts';
import { DecisionVerifier } from './decision-verifier.ts';
import { fixedKeys } from './key-source.ts';
import { requireApproved, type VerifyInput } from './verification.ts';

let lead: TestKey;
let approved: DecisionCase;

beforeAll(async () => {
  lead = await makeKey();
  approved = await decidedCase(lead.signer);
});

const reasonFor = async (input: VerifyInput) => {
  const verified = requireApproved(await new DecisionVerifier({ keys: lead.keys }).verify(input));
  return verified.kind === 'invalid' ? verified.reason : 'opens the gate';
};

const withSignature = (signature: string): VerifyInput => ({
  ...approved.input,
  record: { ...approved.record, decision: { ...approved.record.decision, signature } },
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs the approved case's claims with the lead's own key under any header, as no signer of ours would. */
const resign = (
  header: Record<string, unknown>,
  claims: object = claimsIn(approved.record.decision.signature),
) =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    // The point is to put there what the types do not allow.
    .setProtectedHeader({ alg: 'EdDSA', kid: lead.kid, typ: decisionType, ...header } as { alg: string })
    .sign(lead.privateKey, { crit: { b64: true, exp: true } });

describe('a signature is refused', () => {
  it('[IN-3] with alg none', async () => {
    const [, payload = ''] = approved.record.decision.signature.split('.');
    const header = encode({ alg: 'none', kid: lead.kid, typ: decisionType });

    expect(await reasonFor(withSignature(`${header}.${payload}.`))).toBe('malformed');
    expect(await reasonFor(withSignature(`${header}.${payload}.${'A'.repeat(86)}`))).toBe('header');
  });

  it.each(['raw', 'spki', 'jwk'] as const)(
    '[IN-3] with HS256 and the public key (%s) as its secret',
    async (form) => {
      const [, payload = ''] = approved.record.decision.signature.split('.');
      const raw = Buffer.from(lead.x, 'base64url');
      const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
      const jwk = Buffer.from(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: lead.x }));
      const signed = `${encode({ alg: 'HS256', kid: lead.kid, typ: decisionType })}.${payload}`;
      const secret = { raw, spki, jwk }[form];
      const mac = createHmac('sha256', secret).update(signed).digest();

      expect(await reasonFor(withSignature(`${signed}.${mac.toString('base64url')}`))).toBe('malformed');
      const padded = Buffer.concat([mac, mac]).toString('base64url');
      expect(await reasonFor(withSignature(`${signed}.${padded}`))).toBe('header');
    },
  );

  it('[IN-3] of a key that is not pinned', async () => {
    const stranger = await decidedCase((await makeKey()).signer);

    expect(await reasonFor(stranger.input)).toBe('key_unknown');
  });

  it("[IN-3] of a stranger's key under the lead's name", async () => {
    const stranger = await makeKey();
    const forged = await decidedCase({
      kid: lead.kid,
      sign: async (typ, claims) =>
        new CompactSign(Buffer.from(JSON.stringify(claims)))
          .setProtectedHeader({ alg: 'EdDSA', kid: lead.kid, typ })
          .sign(stranger.privateKey),
    });

    expect(await reasonFor(forged.input)).toBe('signature');
  });

  it('[IN-3] of a key that was revoked', async () => {
    const verified = await new DecisionVerifier({ keys: fixedKeys(new Map()) }).verify(approved.input);

    expect(verified).toMatchObject({ kind: 'invalid', reason: 'key_unknown' });
  });

  it('[IN-7] while the keys cannot be had, and may be believed later', async () => {
    const keys = { find: async () => ({ kind: 'unreachable' }) as const };

    expect(await new DecisionVerifier({ keys }).verify(approved.input)).toMatchObject({
      reason: 'keys_unreachable',
      retryable: true,
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['crit', { crit: ['exp'], exp: 1 }],
    ['b64', { crit: ['b64'], b64: true }],
    ['jwk', { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } }],
    ['jku', { jku: 'https://example.com/jwks.json' }],
    ['x5u', { x5u: 'https://example.com/cert' }],
    ['cty', { cty: 'JWT' }],
  ])('[IN-3] with a header parameter more: %s', async (_name, extra) => {
    expect(await reasonFor(withSignature(await resign(extra)))).toBe('header');
  });

  it.each(['placet-token+jwt', 'placet-owner+jwt', 'JWT', 'PLACET-DECISION+JWT'])(
    "[IN-2] of the lead's key but of type %s",
    async (typ) => {
      expect(await reasonFor(withSignature(await resign({ typ })))).toBe('header');
    },
  );

  it('[IN-2] with the newer name of the algorithm, for there is one spelling', async () => {
    expect(await reasonFor(withSignature(await resign({ alg: 'Ed25519' })))).toBe('header');
  });

  it('[IN-2] with a claim more than there are', async () => {
    const claims = { ...claimsIn(approved.record.decision.signature), admin: true };

    expect(await reasonFor(withSignature(await resign({}, claims)))).toBe('claims');
  });

  it('[IN-3] that is truncated, wherever it is cut', async () => {
    const { signature } = approved.record.decision;
    const cuts = [
      0,
      1,
      signature.indexOf('.'),
      signature.lastIndexOf('.'),
      signature.length - 2,
      signature.length - 1,
    ];

    for (const cut of cuts) expect(await reasonFor(withSignature(signature.slice(0, cut)))).toBe('malformed');
  });

  it('[IN-3] that is encoded again: padding, line ends, other base64 letters, other spare bits', async () => {
    const { signature } = approved.record.decision;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(signature.at(-1) ?? '');
    const otherTail = signature.slice(0, -1) + alphabet[last ^ 1];
    const [header, payload, mac] = signature.split('.');
    const spellings = [
      `${signature}=`,
      `${signature}==`,
      `${signature}\n`,
      ` ${signature}`,
      otherTail,
      signature.replace('.', '=.'),
      `${signature}.`,
      JSON.stringify({ payload, protected: header, signature: mac }),
      JSON.stringify({ payload, signatures: [{ protected: header, signature: mac }] }),
    ];

    expect(Buffer.from(otherTail.split('.')[2] ?? '', 'base64url')).toEqual(
      Buffer.from(mac ?? '', 'base64url'),
    );
    for (const spelling of spellings) expect(await reasonFor(withSignature(spelling))).toBe('malformed');
  });

  it('[IN-3] with standard base64 letters in place of the URL-safe ones', async () => {
    for (let round = 0; round < 50; round++) {
      const { signature } = (await decidedCase(lead.signer)).record.decision;
      const standard = signature.replaceAll('-', '+').replaceAll('_', '/');
      if (standard === signature) continue;
      expect(await reasonFor(withSignature(standard))).toBe('malformed');
      return;
    }
    expect.fail('no signature had such a letter');
  });
});
