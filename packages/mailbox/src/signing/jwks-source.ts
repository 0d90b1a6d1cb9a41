import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, isPlacetError, PlacetError, systemClock } from '@placet/protocol';
import { fetchText } from './fetch-text.ts';
import { importJwks, type KeyLookup, type KeyMap, type KeySource } from './key-source.ts';

/** Where a teammate's keys come from: a file is trusted as it is, a URL for the thumbprints it must have. */
export type JwksLocation =
  | { file: string; thumbprints?: readonly string[] }
  | { url: string; thumbprints: readonly string[] };

/** How keys are kept fresh. */
export interface JwksSourceOptions {
  clock?: Clock;
  fetch?: typeof fetch;
  /** Keys are read again when they are older than this; 60 s, and never more (IN-7). */
  refreshMs?: number;
  /** Called when keys could not be read, with no secret in the text. */
  onFault?: (detail: string) => void;
}

const maxRefreshMs = 60_000;
/** Keys that could not be read again for this long open nothing new (IN-7). */
const closedAfterMs = 10 * 60_000;
/** A key that is not known, or a source that fails, makes it be read at most this often. */
const minPauseMs = 1000;
const fetchTimeoutMs = 5000;
const maxJwksChars = 256 * 1024;

/**
 * The lead's public keys as a teammate pins them (IN-2, IN-7): read again on use when they are older than 60 s or a
 * key is not known, and in the background after {@link start}; closed once they could not be read for 10 minutes.
 */
export class JwksSource implements KeySource {
  readonly #location: JwksLocation;
  readonly #pins: ReadonlySet<string> | undefined;
  readonly #options: JwksSourceOptions;
  readonly #clock: Clock;
  readonly #refreshMs: number;
  readonly #closing = new AbortController();
  #keys: KeyMap = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #background: Promise<void> | undefined;

  /** @throws PlacetError `config_invalid` for a URL without thumbprints. */
  constructor(location: JwksLocation, options: JwksSourceOptions = {}) {
    const pins = location.thumbprints ?? [];
    if ('url' in location && pins.length === 0)
      throw new PlacetError(
        'config_invalid',
        'keys from a URL need keyThumbprints: whoever answers at that address could approve plans otherwise',
      );
    this.#location = location;
    this.#pins = pins.length > 0 ? new Set(pins) : undefined;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#refreshMs = Math.min(options.refreshMs ?? maxRefreshMs, maxRefreshMs);
  }

  /**
   * Reads the keys now, and from now on in the background until {@link close}.
   * @throws PlacetError `config_invalid` when there are none that are pinned, `service_unreachable`
   */
  async start(): Promise<void> {
    await this.#read();
    if (this.#keys.size === 0)
      throw new PlacetError('config_invalid', `no key of ${this.#name()} is usable and pinned`);
    this.#background ??= this.#refreshInBackground();
  }

  async find(kid: string): Promise<KeyLookup> {
    if (this.#isDue(this.#refreshMs)) await this.#tryToRead();
    if (!this.#keys.has(kid) && this.#isDue(minPauseMs)) await this.#tryToRead();
    if (this.#ageMs() > closedAfterMs) return { kind: 'unreachable' };
    const key = this.#keys.get(kid);
    return key ? { kind: 'found', key } : { kind: 'unknown' };
  }

  /** Ends the refreshing; what was read stays usable for 10 minutes. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#background;
  }

  /** Infinite where keys were never read, or where the clock was set back: nobody knows then. */
  #ageMs(): number {
    const age = this.#clock.now() - this.#readAtMs;
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }

  #isDue(ageMs: number): boolean {
    const sinceTry = this.#clock.now() - this.#triedAtMs;
    return this.#ageMs() >= ageMs && (sinceTry >= minPauseMs || sinceTry < 0);
  }

  async #tryToRead(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      // The keys that are there still count until they are too old; the fault is for whoever watches.
      this.#options.onFault?.(isPlacetError(error) ? error.message : 'the keys cannot be read');
    }
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const askedAtMs = this.#clock.now();
    this.#triedAtMs = askedAtMs;
    this.#keys = await importJwks(parseJson(await this.#text(), this.#name()), this.#pins);
    this.#readAtMs = askedAtMs;
  }

  async #text(): Promise<string> {
    if ('url' in this.#location)
      return fetchText(this.#location.url, {
        fetch: this.#options.fetch ?? fetch,
        maxChars: maxJwksChars,
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(fetchTimeoutMs)]),
      });
    try {
      return await readFile(this.#location.file, 'utf8');
    } catch (cause) {
      throw new PlacetError('config_invalid', `the key file ${this.#location.file} cannot be read`, {
        cause,
      });
    }
  }

  #name(): string {
    return 'url' in this.#location ? new URL(this.#location.url).origin : this.#location.file;
  }

  async #refreshInBackground(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      // Half the time, so that a use seldom has to wait. An abort is the end, not a fault.
      await pause(this.#refreshMs / 2, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#tryToRead();
    }
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PlacetError('config_invalid', `the key set of ${name} is not JSON`);
  }
}
