import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, PlacetError, systemClock, toTimestamp } from '@placet/protocol';
import type { Jwks, KeyLookup, KeySource } from './key-source.ts';
import { createPrivateFile, ensurePrivateFolder, readPrivateFile, replaceFile } from './private-files.ts';
import type { Signer } from './signer.ts';
import { newKeyFile, readKeyFile, type SigningKey } from './signing-key.ts';

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

/** What other processes did to the folder is seen after this time at the latest. */
const maxAgeMs = 5000;
/** Unknown keys make the folder be read at most this often. */
const minAgeMs = 1000;

interface RingEntry extends SigningKey {
  revokedAt: string | undefined;
}

/**
 * The lead's signing keys, in a folder (IN-4): `key-0001.json` and so on, the highest that is not revoked being the
 * active one; `key-0001.revoked` says that this one is revoked. Files are only ever added, so that processes need no
 * lock: what one changes, the others see within 5 s.
 */
export class KeyRing implements KeySource {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #publishTo: string | undefined;
  readonly #entries = new Map<number, RingEntry>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  private constructor(dir: string, { clock = systemClock, publishTo }: KeyRingOptions) {
    this.#dir = dir;
    this.#clock = clock;
    this.#publishTo = publishTo;
  }

  /**
   * Opens the ring, and makes the folder (0700) and the first key (0600) where there is none.
   * @throws PlacetError `config_invalid` when the folder or a file can be read by others, or is damaged.
   */
  static async open(dir: string, options: KeyRingOptions = {}): Promise<KeyRing> {
    await ensurePrivateFolder(dir);
    const ring = new KeyRing(dir, options);
    await ring.#read();
    // The first one by its number: another process may make it meanwhile, and a second one is nobody's wish.
    if (ring.#entries.size === 0) await ring.#make(1);
    return ring;
  }

  /** Every key, oldest first. */
  async list(): Promise<KeyInfo[]> {
    await this.#readIfOlderThan(maxAgeMs);
    const active = this.#active();
    return this.#inOrder().map((entry) => ({
      kid: entry.kid,
      state: entry.revokedAt ? 'revoked' : entry === active ? 'active' : 'retired',
      createdAt: entry.createdAt,
      ...(entry.revokedAt && { revokedAt: entry.revokedAt }),
    }));
  }

  /** The signer of the active key. Ask anew for each signature, so that rotation takes effect. */
  async activeSigner(): Promise<Signer> {
    await this.#readIfOlderThan(maxAgeMs);
    const active = this.#active();
    if (!active)
      throw new PlacetError('config_invalid', `every key in ${this.#dir} is revoked: run placet keys rotate`);
    return active.signer;
  }

  /** The public keys that are not revoked, oldest first. */
  async jwks(): Promise<Jwks> {
    await this.#readIfOlderThan(maxAgeMs);
    return this.#publicKeys();
  }

  async find(kid: string): Promise<KeyLookup> {
    await this.#readIfOlderThan(maxAgeMs);
    if (!this.#byKid(kid)) await this.#readIfOlderThan(minAgeMs);
    const entry = this.#byKid(kid)?.[1];
    return entry && !entry.revokedAt ? { kind: 'found', key: entry.publicKey } : { kind: 'unknown' };
  }

  /**
   * Makes a new key, which signs from now on; the older ones verify until they are revoked. Answers its `kid`. Of
   * processes that rotate at once all answer the same key.
   */
  async rotate(): Promise<string> {
    await this.#read();
    return this.#make(Math.max(0, ...this.#entries.keys()) + 1);
  }

  /** Makes the key of this number, or takes the one that another process has made under it. Answers its `kid`. */
  async #make(number: number): Promise<string> {
    await createPrivateFile(this.#path(number, 'json'), await newKeyFile(this.#clock.now()));
    await this.#read();
    const made = this.#entries.get(number);
    if (!made) throw new PlacetError('internal', `the key file ${number} of ${this.#dir} vanished`);
    return made.kid;
  }

  /** Revokes a key for good; where it is the active one, a new one is made first. @throws PlacetError `not_found` */
  async revoke(kid: string): Promise<void> {
    await this.#read();
    const found = this.#byKid(kid);
    if (!found) throw new PlacetError('not_found', `there is no key ${kid}: placet keys list shows them`);
    const [number, entry] = found;
    if (entry === this.#active()) await this.rotate();
    await createPrivateFile(this.#path(number, 'revoked'), `${toTimestamp(this.#clock.now())}\n`);
    await this.#read();
  }

  #path(number: number, kind: 'json' | 'revoked'): string {
    return join(this.#dir, `key-${String(number).padStart(4, '0')}.${kind}`);
  }

  #inOrder(): RingEntry[] {
    return [...this.#entries].sort(([a], [b]) => a - b).map(([, entry]) => entry);
  }

  #active(): RingEntry | undefined {
    return this.#inOrder().findLast((entry) => !entry.revokedAt);
  }

  #byKid(kid: string): [number, RingEntry] | undefined {
    return [...this.#entries].find(([, entry]) => entry.kid === kid);
  }

  #publicKeys(): Jwks {
    const good = this.#inOrder().filter((entry) => !entry.revokedAt);
    return {
      keys: good.map(({ x, kid }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' })),
    };
  }

  async #readIfOlderThan(ageMs: number): Promise<void> {
    const age = this.#clock.now() - this.#readAtMs;
    // A clock that was set back must not keep a revoked key alive.
    if (age >= ageMs || age < 0) await (this.#reading ?? this.#read());
  }

  /** Reads the folder, beginning after this call: what this process has just written is in it. */
  async #read(): Promise<void> {
    while (this.#reading) await this.#reading.catch(() => undefined);
    this.#reading = this.#readAndPublish();
    try {
      await this.#reading;
    } finally {
      this.#reading = undefined;
    }
  }

  async #readAndPublish(): Promise<void> {
    let changed = await this.#readFolder();
    // Again after each publication: another process may have changed the folder and published before we did.
    while (changed && this.#publishTo) {
      await replaceFile(this.#publishTo, `${JSON.stringify(this.#publicKeys())}\n`, 0o644);
      changed = await this.#readFolder();
    }
  }

  async #readFolder(): Promise<boolean> {
    const readAtMs = this.#clock.now();
    let changed = false;
    for (const name of await this.#fileNames()) {
      const match = /^key-(\d{4,9})\.(json|revoked)$/.exec(name);
      const number = Number(match?.[1]);
      const entry = this.#entries.get(number);
      if (!match || (match[2] === 'json' ? entry : entry?.revokedAt)) continue;
      const path = join(this.#dir, name);
      const text = await readPrivateFile(path);
      if (text === undefined) continue;
      // In this order: a name's `json` sorts before its `revoked`.
      if (match[2] === 'json')
        this.#entries.set(number, { ...(await readKeyFile(path, text)), revokedAt: undefined });
      else if (entry) entry.revokedAt = text.trim() || toTimestamp(0);
      changed = true;
    }
    this.#readAtMs = readAtMs;
    return changed;
  }

  async #fileNames(): Promise<string[]> {
    try {
      return (await readdir(this.#dir)).sort();
    } catch (cause) {
      throw new PlacetError('config_invalid', `the key folder ${this.#dir} cannot be read`, { cause });
    }
  }
}
