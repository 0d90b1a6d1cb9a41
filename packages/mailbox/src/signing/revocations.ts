import { type Clock, PlacetError } from '@placet/protocol';
import type { RevocationCheck } from './tokens.ts';

/** Where revocations stand beside the lead's own file: a hash in Redis, `jti` → expiry. */
export interface RevocationStore {
  /** Every entry: `jti` and when the token expires, in milliseconds since the epoch. */
  readRevoked(): Promise<ReadonlyMap<string, number>>;
  addRevoked(jti: string, expiresAtMs: number): Promise<void>;
}

/** How revocations are opened. */
export interface RevocationsOptions {
  clock?: Clock;
  /** Asked at most every 5 s; when it does not answer, the file alone counts. */
  store?: RevocationStore | undefined;
}

/** The tokens that were revoked (WR-32): the union of the lead's file `revoked.json` and Redis, until they expire. */
export class Revocations implements RevocationCheck {
  /** @throws PlacetError `config_invalid` when the file is damaged. */
  static async open(_dir: string, _options: RevocationsOptions = {}): Promise<Revocations> {
    throw new PlacetError('internal', 'not built yet');
  }

  async isRevoked(_jti: string): Promise<boolean> {
    return true;
  }

  /** Revokes a token, in the file first. Without its expiry it is kept as long as any token can live. */
  async revoke(_jti: string, _expiresAtMs?: number): Promise<void> {}

  /** Every entry that has not expired. */
  async list(): Promise<{ jti: string; expiresAt: string }[]> {
    return [];
  }
}
