import { signatureAlgorithm } from '@placet/protocol';
import { CompactSign, type CryptoKey } from 'jose';

/** Signs as the lead (IN-1, IN-4). Ours holds a key of the key ring; one that asks a KMS fits as well. */
export interface Signer {
  /** The RFC 7638 thumbprint of the key. */
  readonly kid: string;
  /** Makes a compact JWS of the claims, with the header `{ alg, kid, typ }` and nothing else in it. */
  sign(typ: string, claims: object): Promise<string>;
}

const encoder = new TextEncoder();

/** A signer with a private Ed25519 key that this process holds; neither printing nor `JSON.stringify` shows it. */
export function createSigner(kid: string, privateKey: CryptoKey): Signer {
  return {
    kid,
    sign: (typ, claims) =>
      new CompactSign(encoder.encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: signatureAlgorithm, kid, typ })
        .sign(privateKey),
  };
}
