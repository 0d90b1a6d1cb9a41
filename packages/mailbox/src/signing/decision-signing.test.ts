import { type DecisionClaims, toTimestamp } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { claimsIn, decidedCase, makeKey, nowMs } from './decision-case.test.fixture.ts';
import { signDecision } from './decision-signing.ts';
import { DecisionVerifier } from './decision-verifier.ts';

const lead = await makeKey();
const claims = claimsIn((await decidedCase(lead.signer)).record.decision.signature);

describe('signing a decision', () => {
  it.each<[string, Partial<DecisionClaims>]>([
    ['an approval without a mode', { permissionMode: null }],
    ['a rejection with a mode', { outcome: 'rejected' }],
    ['a rejection with an edit', { outcome: 'rejected', permissionMode: null, planEdited: true }],
    ['an edit that changes nothing', { planEdited: true }],
    ['an unedited plan of another digest', { approvedPlanDigest: claims.workspaceDigest }],
    ['an end before the beginning', { notAfter: toTimestamp(nowMs - 1) }],
  ])('[IN-6] is refused for %s, and such a signature would not be believed', async (_what, changes) => {
    const made = { ...claims, ...changes };
    await expect(signDecision(lead.signer, made)).rejects.toMatchObject({ code: 'internal' });

    const { input } = await decidedCase(lead.signer);
    const signature = await lead.signer.sign('placet-decision+jwt', made);
    const record = {
      ...input.record,
      decision: { ...(await decidedCase(lead.signer)).record.decision, signature },
    };
    expect(await new DecisionVerifier({ keys: lead.keys }).verify({ ...input, record })).toMatchObject({
      reason: 'contradiction',
    });
  });

  it('[IN-6] is refused for claims that are not of the schema', async () => {
    // What the types forbid is the case here.
    const extra = { ...claims, admin: true } as DecisionClaims;

    await expect(signDecision(lead.signer, extra)).rejects.toMatchObject({ code: 'internal' });
    await expect(signDecision(lead.signer, { ...claims, team: 'Not A Name' })).rejects.toMatchObject({
      code: 'internal',
    });
  });
});
