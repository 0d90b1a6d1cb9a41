import { PlacetError } from '@placet/protocol';
import { type CryptoKey, calculateJwkThumbprint, importJWK } from 'jose';
import { z } from 'zod';

/** What came of looking for a key. */
export type KeyLookup =
  | { kind: 'found'; key: CryptoKey }
  /** There is none of that name that is not revoked. */
  | { kind: 'unknown' }
  /** The keys could not be fetched for too long; the gate is closed to new decisions (IN-7). */
  | { kind: 'unreachable' };

/** Where public keys come from: the key ring in the lead, the pinned JWKS in a teammate. */
export interface KeySource {
  find(kid: string): Promise<KeyLookup>;
}

/** A public key of the lead as a JWK: Ed25519, named by its thumbprint. Other fields are ignored. */
export const PublicJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  kid: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  alg: z.literal('EdDSA').optional(),
  use: z.literal('sig').optional(),
});
export type PublicJwk = z.infer<typeof PublicJwk>;

/** The keys of the lead as `/.well-known/jwks.json` and teammates' key files have them. */
export const Jwks = z.object({ keys: z.array(z.unknown()).max(100) });
export interface Jwks {
  keys: PublicJwk[];
}

/** Keys that were imported once, by `kid`. */
export type KeyMap = ReadonlyMap<string, CryptoKey>;

/**
 * Imports the usable keys of a JWKS: Ed25519, named by their own thumbprint and, where pins are given, pinned. Others
 * are left out, for a set may hold keys of a later kind.
 * @throws PlacetError `config_invalid` when the value is no JWKS at all.
 */
export async function importJwks(value: unknown, pins?: ReadonlySet<string>): Promise<KeyMap> {
  const parsed = Jwks.safeParse(value);
  if (!parsed.success) throw new PlacetError('config_invalid', 'the key set is not a JWKS');
  const keys = new Map<string, CryptoKey>();
  for (const entry of parsed.data.keys) {
    const jwk = PublicJwk.safeParse(entry);
    if (!jwk.success) continue;
    const { kty, crv, x, kid } = jwk.data;
    if (pins && !pins.has(kid)) continue;
    if ((await calculateJwkThumbprint({ kty, crv, x })) !== kid) continue;
    keys.set(kid, await importPublicKey(x));
  }
  return keys;
}

/** Imports the public half of an Ed25519 key. */
export async function importPublicKey(x: string): Promise<CryptoKey> {
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
  if (key instanceof Uint8Array) throw new PlacetError('internal', 'an Ed25519 key was imported as a secret');
  return key;
}

/** A source of keys that never change, for checks offline. */
export function fixedKeys(keys: KeyMap): KeySource {
  return {
    find: async (kid) => {
      const key = keys.get(kid);
      return key ? { kind: 'found', key } : { kind: 'unknown' };
    },
  };
}
