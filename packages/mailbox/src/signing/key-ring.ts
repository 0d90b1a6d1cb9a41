import { type Clock, PlacetError } from '@placet/protocol';
import type { Jwks, KeyLookup, KeySource } from './key-source.ts';
import type { Signer } from './signer.ts';

/** How a key of the ring stands. `retired` ones verify but sign no more. */
export interface KeyInfo {
  kid: string;
  state: 'active' | 'retired' | 'revoked';
  createdAt: string;
  revokedAt?: string | undefined;
}

/** How a key ring is opened. */
export interface KeyRingOptions {
  clock?: Clock;
  /** A file that always holds the public keys, for teammates on this machine; rewritten when they change. */
  publishTo?: string | undefined;
}

/**
 * The lead's signing keys, in a folder (IN-4). Several processes may have it open: what one changes, the others see
 * within 5 s, and a key that is not known at once.
 */
export class KeyRing implements KeySource {
  /**
   * Opens the ring, and makes the folder (0700) and the first key (0600) where there is none.
   * @throws PlacetError `config_invalid` when the folder or a file can be read by others, or is damaged.
   */
  static async open(_dir: string, _options: KeyRingOptions = {}): Promise<KeyRing> {
    throw new PlacetError('internal', 'not built yet');
  }

  /** Every key, oldest first. */
  async list(): Promise<KeyInfo[]> {
    return [];
  }

  /** Signs with the key that is active when `sign` is called. */
  async activeSigner(): Promise<Signer> {
    throw new PlacetError('internal', 'not built yet');
  }

  /** The public keys that are not revoked. */
  async jwks(): Promise<Jwks> {
    return { keys: [] };
  }

  async find(_kid: string): Promise<KeyLookup> {
    return { kind: 'unknown' };
  }

  /** Makes a new key, which signs from now on; the older ones verify until they are revoked. Answers its `kid`. */
  async rotate(): Promise<string> {
    return '';
  }

  /** Revokes a key; where it is the active one, a new one is made first. @throws PlacetError `not_found` */
  async revoke(_kid: string): Promise<void> {}
}
