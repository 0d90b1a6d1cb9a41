import { join } from 'node:path';
import {
  type Clock,
  fromTimestamp,
  isPlacetError,
  maxTokenLifetimeMs,
  PlacetError,
  systemClock,
  Timestamp,
  toTimestamp,
} from '@placet/protocol';
import { z } from 'zod';
import { appendPrivateFile, ensurePrivateFolder, readPrivateFile } from './private-files.ts';
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
  /** Asked at most every 5 s; while it does not answer, what is known counts. */
  store?: RevocationStore | undefined;
  /** Called when the store does not answer or a line of the file is damaged. */
  onFault?: (detail: string) => void;
}

/** What another process of the lead revokes counts here after this time at the latest. */
const fileMaxAgeMs = 1000;
const storeMaxAgeMs = 5000;
/** The store can be written by others; it may not fill the lead's disk. */
const maxKept = 100_000;

const Line = z.object({ jti: z.string().min(1).max(64), expiresAt: Timestamp });

/**
 * The tokens that were revoked (WR-32), until they expire: the union of the lead's file `revoked.ndjson` and the store.
 * What is seen in the store is kept in the file as well, so that taking it out of the store gives no token back. Lines are
 * only ever appended, so that processes need no lock.
 */
export class Revocations implements RevocationCheck {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #options: RevocationsOptions;
  /** `jti` → when the token expires anyway. */
  readonly #inFile = new Map<string, number>();
  #lines = 0;
  #fileReadAtMs = Number.NEGATIVE_INFINITY;
  #storeReadAtMs = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  private constructor(dir: string, options: RevocationsOptions) {
    this.#path = join(dir, 'revoked.ndjson');
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
  }

  /** @throws PlacetError `config_invalid` when others can read the folder or the file. */
  static async open(dir: string, options: RevocationsOptions = {}): Promise<Revocations> {
    await ensurePrivateFolder(dir);
    const revocations = new Revocations(dir, options);
    await revocations.#readFile();
    return revocations;
  }

  async isRevoked(jti: string): Promise<boolean> {
    await this.#refresh();
    return this.#inFile.has(jti);
  }

  /**
   * Revokes a token, in the file first. Without its expiry it is kept as long as any token can live.
   * @throws PlacetError `validation_failed`; `store_unavailable` when only the file has it: the lead refuses the token
   * all the same, and tells the store when it answers again.
   */
  async revoke(jti: string, expiresAtMs = this.#clock.now() + maxTokenLifetimeMs): Promise<void> {
    const line = Line.safeParse({ jti, expiresAt: toTimestamp(expiresAtMs) });
    if (!line.success) throw new PlacetError('validation_failed', 'a token ID has 1 to 64 characters');
    await this.#keep([[jti, expiresAtMs]]);
    await this.#options.store?.addRevoked(jti, expiresAtMs);
  }

  /** Every entry whose token has not expired. */
  async list(): Promise<{ jti: string; expiresAt: string }[]> {
    await this.#refresh();
    return [...this.#inFile].map(([jti, expiresAtMs]) => ({ jti, expiresAt: toTimestamp(expiresAtMs) }));
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshNow().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshNow(): Promise<void> {
    const nowMs = this.#clock.now();
    if (isOlder(this.#fileReadAtMs, nowMs, fileMaxAgeMs)) await this.#readFile();
    if (!this.#options.store || !isOlder(this.#storeReadAtMs, nowMs, storeMaxAgeMs)) return;
    this.#storeReadAtMs = nowMs;
    try {
      await this.#meetStore(this.#options.store);
    } catch (error) {
      // The file has what this lead revoked; a store that is away must not lock everyone out.
      this.#options.onFault?.(
        isPlacetError(error) ? error.message : 'the store did not tell its revocations',
      );
    }
  }

  /** Both sides learn what only the other one knows. */
  async #meetStore(store: RevocationStore): Promise<void> {
    const inStore = await store.readRevoked();
    const nowMs = this.#clock.now();
    const latestMs = nowMs + maxTokenLifetimeMs;
    const fresh = [...inStore].flatMap(([jti, expiresAtMs]): [string, number][] =>
      expiresAtMs > nowMs && !this.#inFile.has(jti) && Line.shape.jti.safeParse(jti).success
        ? [[jti, Math.min(expiresAtMs, latestMs)]]
        : [],
    );
    await this.#keep(fresh.slice(0, Math.max(0, maxKept - this.#lines)));
    for (const [jti, expiresAtMs] of this.#inFile)
      if (!inStore.has(jti)) await store.addRevoked(jti, expiresAtMs);
  }

  async #keep(entries: readonly (readonly [jti: string, expiresAtMs: number])[]): Promise<void> {
    const lines = entries.map(([jti, expiresAtMs]) =>
      JSON.stringify({ jti, expiresAt: toTimestamp(expiresAtMs) }),
    );
    // A line end first: what a crash left half written must not swallow the next entry.
    if (lines.length > 0) await appendPrivateFile(this.#path, `\n${lines.join('\n')}\n`);
    this.#lines += lines.length;
    for (const [jti, expiresAtMs] of entries) this.#inFile.set(jti, expiresAtMs);
  }

  async #readFile(): Promise<void> {
    const nowMs = this.#clock.now();
    const text = (await readPrivateFile(this.#path)) ?? '';
    const lines = text.split('\n').filter(Boolean);
    let damaged = 0;
    for (const line of lines) {
      const entry = parseLine(line);
      if (entry) this.#inFile.set(entry.jti, fromTimestamp(entry.expiresAt));
      else damaged++;
    }
    for (const [jti, expiresAtMs] of this.#inFile) if (expiresAtMs <= nowMs) this.#inFile.delete(jti);
    if (damaged > 0) this.#options.onFault?.(`${damaged} damaged lines in ${this.#path} are left out`);
    this.#lines = lines.length;
    this.#fileReadAtMs = nowMs;
  }
}

function isOlder(atMs: number, nowMs: number, maxAgeMs: number): boolean {
  return nowMs - atMs >= maxAgeMs || nowMs < atMs;
}

function parseLine(line: string): z.infer<typeof Line> | undefined {
  try {
    return Line.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
