import { issuer, OwnerClaims, ownerProofType, parseOrThrow } from '@placet/protocol';
import type { KeySource } from './key-source.ts';
import { readSigned, type SignedResult } from './signed-object.ts';
import type { Signer } from './signer.ts';

/** Who owns which teammate. */
export interface Ownership {
  team: string;
  teammate: string;
  owner: string;
}

/**
 * Signs who owns a teammate (IN-6, TM-32). It is no secret and stands in the store.
 * @throws PlacetError `validation_failed`
 */
export async function createOwnerProof(signer: Signer, ownership: Ownership, nowMs: number): Promise<string> {
  const { team, teammate, owner } = ownership;
  const iat = Math.floor(nowMs / 1000);
  const claims = parseOrThrow(
    OwnerClaims,
    { v: 1, iss: issuer, team, teammate, owner, iat },
    'the owner proof',
  );
  return signer.sign(ownerProofType, claims);
}

/** Reads a proof; one of another team or teammate is invalid as `other_teammate`. */
export async function verifyOwnerProof(
  proof: string,
  { team, teammate }: { team: string; teammate: string },
  keys: KeySource,
): Promise<SignedResult<OwnerClaims> | { kind: 'invalid'; reason: 'other_teammate' }> {
  const result = await readSigned(proof, { typ: ownerProofType, schema: OwnerClaims, keys });
  if (result.kind === 'invalid') return result;
  if (result.claims.team !== team || result.claims.teammate !== teammate)
    return { kind: 'invalid', reason: 'other_teammate' };
  return result;
}
