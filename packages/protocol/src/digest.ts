import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';

/** `sha256:` and 64 hexadecimal digits (WR-4). */
export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hexadecimal digits');
export type Digest = z.infer<typeof Digest>;

/** The digest of bytes as they are. */
export function digestOfBytes(bytes: Uint8Array): Digest {
  return `sha256:${bytesToHex(sha256(bytes))}`;
}

/** The digest of a text's UTF-8 bytes, with no normalisation (PM-44). */
export function digestOfText(text: string): Digest {
  return digestOfBytes(utf8ToBytes(text));
}

/** Any value that JSON can say, for digests over structured content. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The digest of a list of values as JSON; the order is the caller's, so give a list and not an object. */
export function digestOfList(values: readonly JsonValue[]): Digest {
  return digestOfText(JSON.stringify(values));
}
