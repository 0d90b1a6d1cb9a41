import { DecisionClaims, decisionType, PlacetError } from '@placet/protocol';
import type { Signer } from './signer.ts';

/**
 * Signs a decision (IN-1). Only the deciding step may call it, on what this process authenticated (IN-6).
 * @throws PlacetError `internal` when the claims contradict themselves or are not of the schema: nothing is signed.
 */
export async function signDecision(signer: Signer, claims: DecisionClaims): Promise<string> {
  const parsed = DecisionClaims.safeParse(claims);
  if (!parsed.success) throw new PlacetError('internal', 'the claims of a decision are not of their schema');
  const fault = decisionContradiction(parsed.data);
  if (fault) throw new PlacetError('internal', `a decision is not signed because ${fault}`);
  return signer.sign(decisionType, parsed.data);
}

/** How the claims of a decision contradict each other, if they do; such a decision is neither made nor believed. */
export function decisionContradiction(claims: DecisionClaims): string | undefined {
  const { outcome, permissionMode, planEdited, planDigest, approvedPlanDigest, decidedAt, notAfter } = claims;
  if (outcome === 'approved' && permissionMode === null) return 'an approval names no permission mode';
  if (outcome === 'rejected' && permissionMode !== null) return 'a rejection names a permission mode';
  if (outcome === 'rejected' && planEdited) return 'a rejection edits the plan';
  if (planEdited === (planDigest === approvedPlanDigest)) return 'planEdited does not agree with the digests';
  if (notAfter < decidedAt) return 'notAfter is before decidedAt';
  return undefined;
}
