import type { PrincipalKind, Role, TokenClaims } from '@placet/protocol';
import { PlacetError } from '@placet/protocol';
import type { KeySource } from './key-source.ts';
import type { SignatureFault } from './signed-object.ts';
import type { Signer } from './signer.ts';

/** What a token is to say (WR-43). */
export interface TokenSpec {
  principal: string;
  role: Role;
  teams: string[];
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

/** What came of reading a token. */
export type TokenResult =
  | { kind: 'valid'; claims: TokenClaims }
  | {
      kind: 'invalid';
      reason: SignatureFault | 'not_a_token' | 'expired' | 'not_yet_valid' | 'lifetime' | 'revoked';
    };

/** Says which tokens were revoked. */
export interface RevocationCheck {
  isRevoked(jti: string): Promise<boolean>;
}

/** Makes a token (WR-32). @throws PlacetError `validation_failed` naming what is wrong with the spec. */
export async function createToken(_signer: Signer, _spec: TokenSpec): Promise<CreatedToken> {
  throw new PlacetError('internal', 'not built yet');
}

/** Reads a token as it came in `Authorization: Bearer`. */
export async function verifyToken(
  _token: string,
  _keys: KeySource,
  _options: { revoked: RevocationCheck; nowMs: number },
): Promise<TokenResult> {
  throw new PlacetError('internal', 'not built yet');
}
