import { TokenClaims, tokenPrefix } from '@placet/protocol';

/**
 * What a token says of itself, unverified: good for defaults (which team is meant), for nothing else. Undefined for
 * what is no token.
 */
export function readTokenNames(token: string | undefined): TokenClaims | undefined {
  const payload = token?.slice(tokenPrefix.length).split('.')[1];
  if (!payload) return undefined;
  try {
    const claims = TokenClaims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return claims.success ? claims.data : undefined;
  } catch {
    return undefined; // the service will say what is wrong with it
  }
}
