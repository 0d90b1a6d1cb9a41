import { randomUUID } from 'node:crypto';
import {
  issuer,
  maxTokenLifetimeMs,
  PlacetError,
  type PrincipalKind,
  parseOrThrow,
  type Role,
  TokenClaims,
  tokenPrefix,
  tokenType,
  toTimestamp,
} from '@placet/protocol';
import type { KeySource } from './key-source.ts';
import { createOwnerProof } from './owner-proof.ts';
import { readSigned, type SignatureFault } from './signed-object.ts';
import type { Signer } from './signer.ts';

/** What a token is to say (WR-43). */
export interface TokenSpec {
  principal: string;
  role: Role;
  teams: string[];
  /** `person` unless set. */
  kind?: PrincipalKind | undefined;
  /** With role `teammate` only: the name it acts as and who owns it; the owner's proof is made with it. */
  teammate?: string | undefined;
  owner?: string | undefined;
  /** At most 90 days, which is also the default. */
  expiresInMs?: number | undefined;
  nowMs: number;
}

/** A token that was just made; it is shown once. */
export interface CreatedToken {
  /** The `jti`, by which it is revoked. */
  id: string;
  token: string;
  expiresAt: string;
}

/** Why a token is not accepted. */
export type TokenFault =
  | SignatureFault
  | 'not_a_token'
  | 'expired'
  | 'not_yet_valid'
  | 'lifetime'
  | 'revoked';

/** What came of reading a token. */
export type TokenResult = { kind: 'valid'; claims: TokenClaims } | { kind: 'invalid'; reason: TokenFault };

/** Says which tokens were revoked. */
export interface RevocationCheck {
  isRevoked(jti: string): Promise<boolean>;
}

/** Clocks of the lead's machines may differ by this much. */
const clockToleranceMs = 60_000;

/** Makes a token (WR-32). @throws PlacetError `validation_failed` naming what is wrong with the spec. */
export async function createToken(signer: Signer, spec: TokenSpec): Promise<CreatedToken> {
  const { principal, role, teams, kind = 'person', teammate, owner, nowMs } = spec;
  const expiresInMs = spec.expiresInMs ?? maxTokenLifetimeMs;
  if (!(expiresInMs > 0 && expiresInMs <= maxTokenLifetimeMs))
    throw new PlacetError('validation_failed', 'a token lives for more than 0 and at most 90 days');
  const isTeammate = role === 'teammate';
  if (!isTeammate && (teammate !== undefined || owner !== undefined))
    throw new PlacetError('validation_failed', `a token of role ${role} names no teammate and no owner`);
  const [team = ''] = teams;
  const identity =
    isTeammate && teammate !== undefined && owner !== undefined ? { teammate, owner } : undefined;
  const ownerProof = identity && (await createOwnerProof(signer, { team, ...identity }, nowMs));
  const id = randomUUID();
  const exp = Math.ceil((nowMs + expiresInMs) / 1000);
  const claims = parseOrThrow(
    TokenClaims,
    {
      v: 1,
      iss: issuer,
      sub: principal,
      jti: id,
      iat: Math.floor(nowMs / 1000),
      exp,
      role,
      teams,
      kind,
      ...identity,
      ...(ownerProof && { ownerProof }),
    },
    'the token',
  );
  return {
    id,
    token: tokenPrefix + (await signer.sign(tokenType, claims)),
    expiresAt: toTimestamp(exp * 1000),
  };
}

/** Reads a token as it came in `Authorization: Bearer` (WR-32). The store has no say in it, except to revoke. */
export async function verifyToken(
  token: string,
  keys: KeySource,
  { revoked, nowMs }: { revoked: RevocationCheck; nowMs: number },
): Promise<TokenResult> {
  if (!token.startsWith(tokenPrefix)) return { kind: 'invalid', reason: 'not_a_token' };
  const result = await readSigned(token.slice(tokenPrefix.length), {
    typ: tokenType,
    schema: TokenClaims,
    keys,
  });
  if (result.kind === 'invalid') return result;
  const { claims } = result;
  const fault = timeFault(claims, nowMs) ?? ((await revoked.isRevoked(claims.jti)) ? 'revoked' : undefined);
  return fault ? { kind: 'invalid', reason: fault } : { kind: 'valid', claims };
}

function timeFault({ iat, exp }: TokenClaims, nowMs: number): TokenFault | undefined {
  if (nowMs >= exp * 1000) return 'expired';
  if (nowMs + clockToleranceMs < iat * 1000) return 'not_yet_valid';
  // Both ends are rounded to seconds.
  return (exp - iat) * 1000 > maxTokenLifetimeMs + 2000 ? 'lifetime' : undefined;
}
