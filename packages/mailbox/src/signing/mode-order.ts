import { issuer, ModeOrderClaims, modeOrderType, type PermissionMode, parseOrThrow } from '@placet/protocol';
import type { KeySource } from './key-source.ts';
import { readSigned } from './signed-object.ts';
import type { Signer } from './signer.ts';

/** A lead's order to one session (PM-18). */
export interface ModeOrder {
  team: string;
  teammate: string;
  sessionId: string;
  /** `plan` to enter plan mode; the mode to land in to leave it. */
  mode: PermissionMode;
  /** How often the session has entered plan mode, this order included. */
  planEntries: number;
  /** The principal that gave it. */
  by: string;
}

/**
 * Signs an order that this process authenticated (IN-6): whoever can write to an inbox could otherwise have a session
 * leave plan mode.
 * @throws PlacetError `validation_failed`
 */
export async function createModeOrder(signer: Signer, order: ModeOrder, nowMs: number): Promise<string> {
  const iat = Math.floor(nowMs / 1000);
  const claims = parseOrThrow(ModeOrderClaims, { v: 1, iss: issuer, ...order, iat }, 'the order');
  return signer.sign(modeOrderType, claims);
}

/**
 * The order of {@link createModeOrder}; undefined for what is not signed so, is meant for another session, or was given
 * before the session last entered plan mode. Give the `planEntries` of the record as it is now.
 */
export async function verifyModeOrder(
  jws: string,
  session: Omit<ModeOrder, 'mode' | 'by'>,
  keys: KeySource,
): Promise<ModeOrder | undefined> {
  const result = await readSigned(jws, { typ: modeOrderType, schema: ModeOrderClaims, keys });
  if (result.kind !== 'valid') return undefined;
  const { team, teammate, sessionId, mode, planEntries, by } = result.claims;
  const isMeant =
    team === session.team &&
    teammate === session.teammate &&
    sessionId === session.sessionId &&
    planEntries === session.planEntries;
  return isMeant ? { team, teammate, sessionId, mode, planEntries, by } : undefined;
}
