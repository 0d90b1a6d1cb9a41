import { type Decision, digestOfText, toTimestamp } from '@placet/protocol';
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
