import { createHash } from 'node:crypto';
import type { Digest } from '@placet/protocol';

/** As `digestOfBytes` of the protocol (PM-44), by the platform's own hash: ten times as fast, and not for browsers. */
export function nativeDigestOf(bytes: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
