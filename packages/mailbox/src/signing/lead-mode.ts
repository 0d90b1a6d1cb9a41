import { issuer, LeadModeClaims, leadModeType, type PermissionMode, parseOrThrow } from '@placet/protocol';
import type { KeySource } from './key-source.ts';
import { readSigned } from './signed-object.ts';
import type { Signer } from './signer.ts';

/**
 * Signs which mode a lead of the team said it is in, for decisions that name none (TM-30, IN-6): whoever can write to
 * the store could otherwise choose the mode that the lead grants.
 * @throws PlacetError `validation_failed`
 */
export async function createLeadMode(
  signer: Signer,
  { team, mode, by }: { team: string; mode: PermissionMode; by: string },
  nowMs: number,
): Promise<string> {
  const iat = Math.floor(nowMs / 1000);
  const claims = parseOrThrow(LeadModeClaims, { v: 1, iss: issuer, team, mode, by, iat }, "the lead's mode");
  return signer.sign(leadModeType, claims);
}

/** The mode of {@link createLeadMode}; undefined for what is not signed so, or for another team. */
export async function verifyLeadMode(
  jws: string,
  team: string,
  keys: KeySource,
): Promise<PermissionMode | undefined> {
  const result = await readSigned(jws, { typ: leadModeType, schema: LeadModeClaims, keys });
  return result.kind === 'valid' && result.claims.team === team ? result.claims.mode : undefined;
}
