import { signatureAlgorithm } from '@placet/protocol';
import { type CryptoKey, compactVerify } from 'jose';
import { z } from 'zod';
import type { KeySource } from './key-source.ts';

/** Why something signed is not believed. */
export type SignatureFault =
  /** Not a compact JWS, or not written the one way there is. */
  | 'malformed'
  /** The header is not exactly `{ alg: 'EdDSA', kid, typ }` with the expected `typ`. */
  | 'header'
  | 'key_unknown'
  | 'keys_unreachable'
  | 'signature'
  /** The claims are not of the schema. */
  | 'claims';

/** What came of reading something signed. */
export type SignedResult<Claims> =
  | { kind: 'valid'; claims: Claims; kid: string }
  | { kind: 'invalid'; reason: SignatureFault };

/** The longest JWS that is looked at, in characters: a scope may be large, and each of its characters be escaped. */
const maxJwsChars = 2 * 1024 * 1024;

const Header = z.strictObject({
  alg: z.literal(signatureAlgorithm),
  kid: z.string().min(1).max(64),
  typ: z.string(),
});

/**
 * Reads a compact JWS of one type (IN-2): exact header, a key of the source, the signature, strict claims. A JWS that
 * is not, byte for byte, how its parts are encoded is refused, so that no second spelling of a signature exists.
 */
export async function readSigned<Schema extends z.ZodType>(
  jws: string,
  { typ, schema, keys }: { typ: string; schema: Schema; keys: KeySource },
): Promise<SignedResult<z.output<Schema>>> {
  const parts = canonicalParts(jws);
  if (!parts) return { kind: 'invalid', reason: 'malformed' };
  const header = Header.safeParse(jsonOf(parts.header));
  if (!header.success || header.data.typ !== typ) return { kind: 'invalid', reason: 'header' };
  const lookup = await keys.find(header.data.kid);
  if (lookup.kind === 'unknown') return { kind: 'invalid', reason: 'key_unknown' };
  if (lookup.kind === 'unreachable') return { kind: 'invalid', reason: 'keys_unreachable' };
  if (!(await isSignedBy(lookup.key, jws))) return { kind: 'invalid', reason: 'signature' };
  const claims = schema.safeParse(jsonOf(parts.payload));
  if (!claims.success) return { kind: 'invalid', reason: 'claims' };
  return { kind: 'valid', claims: claims.data, kid: header.data.kid };
}

/** What each key is known to have signed: a fact that cannot change. Whether the key is still good is asked each time. */
const knownSignatures = new WeakMap<CryptoKey, Set<string>>();
/** Enough for every token in use. Only what the key signed can get in here; when it is full it begins anew. */
const maxKnown = 4096;
/** Longer ones, which no token is, are not kept in memory. */
const maxKnownChars = 8192;

async function isSignedBy(key: CryptoKey, jws: string): Promise<boolean> {
  const known = knownSignatures.get(key) ?? new Set();
  if (known.has(jws)) return true;
  try {
    await compactVerify(jws, key, { algorithms: [signatureAlgorithm] });
  } catch {
    // Whatever jose objects to, the signature is not believed; its reasons are for its own developers.
    return false;
  }
  if (jws.length > maxKnownChars) return true;
  if (known.size >= maxKnown) known.clear();
  knownSignatures.set(key, known.add(jws));
  return true;
}

function canonicalParts(jws: string): { header: Buffer; payload: Buffer } | undefined {
  if (typeof jws !== 'string' || jws.length > maxJwsChars) return undefined;
  const parts = jws.split('.');
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (!header?.length || !payload?.length || signature?.length !== 64) return undefined;
  const again = [header, payload, signature].map((bytes) => bytes.toString('base64url')).join('.');
  return again === jws ? { header, payload } : undefined;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}
