import { setTimeout as delay } from 'node:timers/promises';
import type { Hints } from './hints.ts';
import { storeCall } from './scripts.ts';
import { parseStreams, type StreamEntry } from './stream-entries.ts';
import type { StreamReaderOptions } from './stream-reader-options.ts';

/** How long what no hint tells of may lie unread, in milliseconds (ST-8). */
const sweepEveryMs = 1000;

interface Look {
  /** Somebody asked for another one while this one was under way. */
  again: boolean;
  done: Promise<void>;
}

/**
 * Reads streams of a Cluster, each by itself, for they lie on different nodes: when a hint names its team, and all of
 * them once a second. Where one node does not answer, the streams of the others are read as before.
 */
export class SweepingReader {
  readonly #options: StreamReaderOptions;
  readonly #hints: Hints;
  readonly #closing = new AbortController();
  readonly #looks = new Map<string, Look>();
  readonly #resumed = new Set<string>();
  readonly #failing = new Set<string>();
  #running: Promise<void> | undefined;
  #wake: AbortController | undefined;

  constructor(options: StreamReaderOptions, hints: Hints) {
    this.#options = options;
    this.#hints = hints;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  poke(): void {
    this.#wake?.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake?.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    await this.#begin();
    const deafen = this.#hints.listen((team) => {
      const key = this.#options.keyOfTeam(team);
      if (this.#resumed.has(key)) this.#look(key); // others are for the sweep
    });
    // Another node may not have all that was read from the one before.
    const forget = this.#options.handle.onLost(() => this.#resumed.clear());
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      this.#lookAtAll();
      await pause(sweepEveryMs, this.#wake.signal);
    }
    deafen();
    forget();
    await Promise.all([...this.#looks.values()].map(({ done }) => done));
  }

  async #begin(): Promise<void> {
    const { handle, onStart, log, what } = this.#options;
    while (!this.#closing.signal.aborted) {
      try {
        await handle.ready(this.#closing.signal);
        await onStart?.();
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        log.warn({ err: error, what }, 'reading cannot begin; trying again');
        await pause(sweepEveryMs, this.#closing.signal);
      }
    }
  }

  #lookAtAll(): void {
    const keys = this.#options.keys();
    const named = new Set(keys);
    for (const key of this.#resumed) if (!named.has(key)) this.#resumed.delete(key);
    for (const key of keys) this.#look(key);
  }

  #look(key: string): void {
    const known = this.#looks.get(key);
    if (known) {
      known.again = true;
      return;
    }
    const look: Look = { again: false, done: Promise.resolve() };
    this.#looks.set(key, look);
    look.done = this.#readUp(key, look);
  }

  /** Reads a stream to its end. Never rejects: what fails is logged once, and tried again by the next sweep. */
  async #readUp(key: string, look: Look): Promise<void> {
    const { log, what } = this.#options;
    try {
      do {
        look.again = false;
        await this.#readOn(key);
      } while (look.again && !this.#closing.signal.aborted);
      this.#failing.delete(key);
    } catch (error) {
      this.#resumed.delete(key);
      if (this.#closing.signal.aborted) return;
      const known = this.#failing.has(key);
      this.#failing.add(key);
      log[known ? 'debug' : 'warn']({ err: error, what, key }, 'a stream cannot be read; trying again');
    } finally {
      this.#looks.delete(key); // in the same step as the last look at `again`
    }
  }

  async #readOn(key: string): Promise<void> {
    const { after, count, onEntries, onResume } = this.#options;
    if (!this.#resumed.has(key)) await onResume(key);
    this.#resumed.add(key);
    while (!this.#closing.signal.aborted) {
      const position = after(key);
      if (position === undefined) return;
      const entries = await this.#read(key, position);
      if (entries.length > 0) await onEntries(key, entries);
      if (entries.length < count) return;
    }
  }

  async #read(key: string, position: string): Promise<StreamEntry[]> {
    const { handle, group, count, what } = this.#options;
    const head = group ? ['GROUP', group.name, group.consumer] : [];
    const command = group ? 'xreadgroup' : 'xread';
    const reply = await storeCall(`reading ${what}`, () =>
      handle.redis.call(command, ...head, 'COUNT', count, 'STREAMS', key, position),
    );
    return parseStreams(reply).flatMap(({ entries }) => entries);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined); // an abort ends the pause
}
