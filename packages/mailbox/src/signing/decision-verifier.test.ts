import { createHmac } from 'node:crypto';
import { type Decision, decisionType, digestOfText, toTimestamp } from '@placet/protocol';
import { CompactSign } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  claimsIn,
  type DecisionCase,
  decidedCase,
  makeKey,
  nowMs,
  type TestKey,
} from './decision-case.test.fixture.ts';
import { DecisionVerifier } from './decision-verifier.ts';
import { fixedKeys } from './key-source.ts';
import { type DecisionJournal, requireApproved, type VerifyInput } from './verification.ts';

let lead: TestKey;
let approved: DecisionCase;
let rejected: DecisionCase;

beforeAll(async () => {
  lead = await makeKey();
  approved = await decidedCase(lead.signer);
  rejected = await decidedCase(lead.signer, { outcome: 'rejected' });
});

const verify = (input: VerifyInput, journal?: DecisionJournal) =>
  new DecisionVerifier({ keys: lead.keys, journal }).verify(input);

const reasonFor = async (input: VerifyInput, journal?: DecisionJournal) => {
  const verified = requireApproved(await verify(input, journal));
  return verified.kind === 'invalid' ? verified.reason : 'opens the gate';
};

const withDecision = (changes: Partial<Decision>, from = approved): VerifyInput => ({
  ...from.input,
  record: { ...from.record, decision: { ...from.record.decision, ...changes } },
});

const withSignature = (signature: string) => withDecision({ signature });

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

describe('a genuine decision', () => {
  it('[IN-2] of this request that approves opens the gate, with the mode that was granted', async () => {
    const verified = requireApproved(await verify(approved.input));

    expect(verified).toMatchObject({
      kind: 'valid',
      permissionMode: 'acceptEdits',
      decision: approved.record.decision,
    });
  });

  it('[IN-1] has the header alg, kid, typ and the claims of the spec, and nothing else', () => {
    const [header = ''] = approved.record.decision.signature.split('.');

    expect(Buffer.from(header, 'base64url').toString()).toBe(
      JSON.stringify({ alg: 'EdDSA', kid: lead.kid, typ: 'placet-decision+jwt' }),
    );
    expect(Object.keys(claimsIn(approved.record.decision.signature)).sort()).toEqual(
      'v iss jti requestId team teammate sessionId revision planDigest approvedPlanDigest workspaceDigest contentDigest outcome permissionMode context planEdited decidedBy decidedAt notAfter policyDigest'
        .split(' ')
        .sort(),
    );
  });

  it('[TM-7] that rejects verifies as a rejection, so that its feedback can be trusted, and opens nothing', async () => {
    expect(await verify(rejected.input)).toMatchObject({ kind: 'valid', decision: { outcome: 'rejected' } });
    expect(await reasonFor(rejected.input)).toBe('not_approved');
  });

  it('[IN-2] that edits the plan is of the edited bytes', async () => {
    const edited = await decidedCase(lead.signer, { approvedPlan: Buffer.from('# Less\n') });

    expect(await reasonFor(edited.input)).toBe('opens the gate');
    expect(await reasonFor({ ...edited.input, approvedPlan: approved.plan })).toBe('plan_differs');
  });

  it('[IN-2] that narrows the scope is of that scope', async () => {
    const scope = { write: ['src/**'], run: [], tools: [] };
    const narrowed = await decidedCase(lead.signer, { scope });

    expect(await reasonFor(narrowed.input)).toBe('opens the gate');
    expect(await reasonFor(withDecision({ scope: { ...scope, write: ['**'] } }, narrowed))).toBe(
      'shown_differs',
    );
    expect(await reasonFor(withDecision({ scope: undefined }, narrowed))).toBe('shown_differs');
  });

  it('[IN-2] opens the gate also with the largest scope there can be', async () => {
    const lines = (chars: number) => Array.from({ length: 100 }, () => '\u0001'.repeat(chars));
    const scope = { write: lines(512), run: lines(512), tools: lines(256) };

    expect(await reasonFor((await decidedCase(lead.signer, { scope })).input)).toBe('opens the gate');
  });

  it('says nothing of fields that no signature covers', async () => {
    const verified = await verify(withDecision({ sudo: true }));

    expect(verified.kind === 'valid' && verified.decision).not.toHaveProperty('sudo');
  });
});

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

describe('a valid decision of something else is refused', () => {
  it.each<[string, object]>([
    ['another request', { requestId: 'other' }],
    ['another team', { team: 'other' }],
    ['another teammate', { teammate: 'other' }],
    ['another session', { sessionId: 'other' }],
    ['another revision', { revision: 3 }],
    ['another workspace', { workspace: { cwd: '/elsewhere' } }],
  ])('[IN-3] of %s, also where the record is made to agree', async (_what, changes) => {
    const other = await decidedCase(lead.signer, {}, changes);

    expect(await reasonFor({ ...other.input, own: approved.own })).toBe('other_request');
    expect(await reasonFor(withSignature(other.record.decision.signature))).toBe('other_request');
    expect(await reasonFor({ ...approved.input, record: { ...approved.record, ...changes } })).toBe(
      'other_request',
    );
  });

  it('[IN-3] of another plan', async () => {
    const plan = Buffer.from('# Another\n');
    const digest = digestOfText('# Another\n');
    const other = await decidedCase(lead.signer, {}, { plan: { ...approved.record.plan, digest } });

    expect(await reasonFor({ ...other.input, approvedPlan: plan })).toBe('opens the gate');
    expect(await reasonFor({ ...other.input, own: approved.own, approvedPlan: plan })).toBe('other_request');
  });
});

describe('a record that shows something else than was signed is refused', () => {
  it('[IN-3] a rejection relabelled as an approval', async () => {
    const relabelled = withDecision({ outcome: 'approved', permissionMode: 'acceptEdits' }, rejected);

    expect(await reasonFor(relabelled)).toBe('shown_differs');
    expect(await reasonFor({ ...relabelled, record: { ...relabelled.record, state: 'approved' } })).toBe(
      'shown_differs',
    );
    expect(await reasonFor({ ...rejected.input, record: { ...rejected.record, state: 'approved' } })).toBe(
      'shown_differs',
    );
  });

  it('[IN-3] a plan swapped after signing', async () => {
    const swapped = Buffer.from('# Plan\n\nDelete the function.\n');

    expect(await reasonFor({ ...approved.input, approvedPlan: swapped })).toBe('plan_differs');
    expect(await reasonFor({ ...approved.input, approvedPlan: undefined })).toBe('plan_differs');
    expect(await reasonFor(withDecision({ approvedPlanDigest: digestOfText('# x') }))).toBe('shown_differs');
  });

  it('[IN-3] an edited mode', async () => {
    expect(await reasonFor(withDecision({ permissionMode: 'bypassPermissions' }))).toBe('shown_differs');
    expect(await reasonFor(withDecision({ permissionMode: undefined }))).toBe('shown_differs');
  });

  it.each<[string, Partial<Decision>]>([
    ['context', { context: 'clear' }],
    ['planEdited', { planEdited: true }],
    ['decidedBy', { decidedBy: 'local:eve' }],
    ['decidedAt', { decidedAt: toTimestamp(nowMs + 1) }],
    ['scope', { scope: { write: ['**'], run: [], tools: [] } }],
  ])('[IN-3] another %s', async (_field, changes) => {
    expect(await reasonFor(withDecision(changes))).toBe('shown_differs');
  });

  it('[IN-3] forged feedback, images or notices on a true decision', async () => {
    const image = { digest: digestOfText('another'), mediaType: 'image/png' } as const;
    const forgeries: Partial<Decision>[] = [
      { feedback: 'Do something else.' },
      { feedback: undefined },
      { images: [image] },
      { images: [] },
      { notices: [] },
      { notices: ['all is well'] },
    ];

    for (const forgery of forgeries) {
      expect(await verify(withDecision(forgery))).toMatchObject({ reason: 'content_differs' });
      expect(await verify(withDecision(forgery, rejected))).toMatchObject({ reason: 'content_differs' });
    }
  });

  it('[WR-14] a record without a decision, whatever its state says', async () => {
    const { decision: _, ...bare } = approved.record;

    expect(await reasonFor({ ...approved.input, record: bare })).toBe('no_decision');
  });

  it('[IN-3] a replay after supersession: the record says so', async () => {
    expect(await reasonFor({ ...approved.input, record: { ...approved.record, state: 'superseded' } })).toBe(
      'shown_differs',
    );
  });
});

describe('a decision is void', () => {
  it('[IN-3][WR-28] when it is first claimed after notAfter, and not when work goes on then', async () => {
    const lateMs = nowMs + 24 * 60 * 60 * 1000;

    expect(await reasonFor({ ...approved.input, nowMs: lateMs })).toBe('opens the gate');
    expect(await reasonFor({ ...approved.input, nowMs: lateMs + 1 })).toBe('expired');
    expect(await reasonFor({ ...approved.input, nowMs: lateMs + 1, claimedBefore: true })).toBe(
      'opens the gate',
    );
  });

  const journal = (last: string | undefined, used: 'unseen' | 'applied' | 'settled'): DecisionJournal => ({
    lastIntent: async () => last,
    usedAs: async () => used,
  });

  it('[IN-3][TM-17] when the teammate has submitted another request since, whatever a rolled-back store says', async () => {
    expect(await reasonFor(approved.input, journal('a later one', 'unseen'))).toBe('not_last_intent');
    expect(await reasonFor(approved.input, journal(approved.own.requestId, 'unseen'))).toBe('opens the gate');
  });

  it('[IN-3][TM-17] when its jti was applied before and the store says that nobody began', async () => {
    expect(await reasonFor(approved.input, journal(approved.own.requestId, 'applied'))).toBe('replayed');
  });

  it('[IN-3][TM-17] when its work was settled, even where the store says that it goes on', async () => {
    const again = { ...approved.input, claimedBefore: true };

    expect(await reasonFor(again, journal(approved.own.requestId, 'settled'))).toBe('replayed');
  });

  it('[TM-8] never for the process that goes on with work that was begun', async () => {
    const again = { ...approved.input, claimedBefore: true };

    expect(await reasonFor(again, journal(approved.own.requestId, 'applied'))).toBe('opens the gate');
  });

  it('[TM-17] without a journal entry the record decides', async () => {
    expect(await reasonFor(approved.input, journal(undefined, 'unseen'))).toBe('opens the gate');
  });
});
