import { PlacetError, signatureAlgorithm, Timestamp, toTimestamp } from '@placet/protocol';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose';
import { z } from 'zod';
import { fixedKeys, importPublicKey } from './key-source.ts';
import { readSigned } from './signed-object.ts';
import { createSigner, type Signer } from './signer.ts';

/** A key of the ring, imported once. The private half cannot be taken out of it again. */
export interface SigningKey {
  kid: string;
  /** The public half, as a JWK has it. */
  x: string;
  publicKey: CryptoKey;
  signer: Signer;
  createdAt: Timestamp;
}

const Part = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const KeyFile = z.object({
  v: z.literal(1),
  createdAt: Timestamp,
  jwk: z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: Part, d: Part }),
});

/** Makes a key and answers the text of its file. Secret: it belongs into a file of mode 0600 and nowhere else. */
export async function newKeyFile(nowMs: number): Promise<string> {
  const { privateKey } = await generateKeyPair(signatureAlgorithm, { crv: 'Ed25519', extractable: true });
  const { kty, crv, x, d } = await exportJWK(privateKey);
  return `${JSON.stringify({ v: 1, createdAt: toTimestamp(nowMs), jwk: { kty, crv, x, d } })}\n`;
}

/**
 * Reads the text of a key's file, and tries the key once.
 * @throws PlacetError `config_invalid` when it is damaged; the error holds nothing of the text.
 */
export async function readKeyFile(path: string, text: string): Promise<SigningKey> {
  try {
    const { createdAt, jwk } = KeyFile.parse(JSON.parse(text));
    const kid = await calculateJwkThumbprint({ kty: jwk.kty, crv: jwk.crv, x: jwk.x });
    const privateKey = await importJWK(jwk, signatureAlgorithm, { extractable: false });
    if (privateKey instanceof Uint8Array) throw new TypeError('imported as a secret');
    const publicKey = await importPublicKey(jwk.x);
    const key = { kid, x: jwk.x, publicKey, signer: createSigner(kid, privateKey), createdAt };
    await tryOut(key);
    return key;
  } catch {
    // Without the cause: errors of parsers quote what they could not read.
    throw new PlacetError(
      'config_invalid',
      `${path} is not a signing key of this release, or is damaged: put back a copy of it, or move it away`,
    );
  }
}

/** A file may hold halves of two keys; what such a key signs would verify nowhere. */
async function tryOut({ kid, publicKey, signer }: SigningKey): Promise<void> {
  const typ = 'placet-self-test+jwt';
  const keys = fixedKeys(new Map([[kid, publicKey]]));
  const result = await readSigned(await signer.sign(typ, {}), { typ, schema: z.strictObject({}), keys });
  if (result.kind === 'invalid') throw new TypeError('the halves of the key do not match');
}
