import { type Digest, parseNativeRequestId } from '@placet/protocol';

const nativePrefix = 'plan_approval-';
const uuidLength = 36;
const digestPrefix = 'sha256:';

/**
 * A request's ID as hashes and lists have it: of a native one its UUID, so that it keeps within 64 bytes (ST-3) and a
 * pending request within its budget (TM-42). The IDs of foreign clients stay whole.
 */
export function packRequestId(team: string, teammate: string, requestId: string): string {
  const native = parseNativeRequestId(requestId);
  if (native?.team !== team || native.teammate !== teammate) return `=${requestId}`;
  return `~${requestId.slice(nativePrefix.length, nativePrefix.length + uuidLength)}`;
}

/** The ID that {@link packRequestId} wrote. */
export function unpackRequestId(team: string, teammate: string, packed: string): string {
  return packed.startsWith('~') ? `${nativePrefix}${packed.slice(1)}@${teammate}@${team}` : packed.slice(1);
}

/** A digest as keys, records and scripts have it: its bytes in base64url, 43 characters for 71. */
export function packDigest(digest: Digest): string {
  return Buffer.from(digest.slice(digestPrefix.length), 'hex').toString('base64url');
}

/** The digest that {@link packDigest} wrote. */
export function unpackDigest(packed: string): Digest {
  return `${digestPrefix}${Buffer.from(packed, 'base64url').toString('hex')}`;
}
