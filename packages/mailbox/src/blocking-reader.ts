import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { maxBlockMs } from './connection.ts';
import { parseStreams } from './stream-entries.ts';
import type { StreamReaderOptions } from './stream-reader-options.ts';

const backoffMs = { first: 50, most: 1000 } as const;
const unblockEveryMs = 5;

/**
 * Reads any number of streams with one blocking command on one connection of its own, so that an entry is seen one
 * round trip after it was written (ST-6, ST-8: a single server, not a Cluster). After a failure everything starts over.
 */
export class BlockingReader {
  readonly #options: StreamReaderOptions;
  readonly #closing = new AbortController();
  #connection: Redis | undefined;
  #running: Promise<void> | undefined;
  #pokes = 0;
  #wakeIdle: (() => void) | undefined;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Has the reader ask for its keys again, now. */
  poke(): void {
    this.#pokes += 1;
    this.#wakeIdle?.();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wakeIdle?.();
    this.#connection?.disconnect();
    await this.#running;
  }

  /** Never rejects: what fails is logged and tried again. */
  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#options.handle.ready(this.#closing.signal);
        const connection = await this.#connect();
        await this.#options.onStart?.();
        failures = 0;
        await this.#readOn(connection);
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        failures += 1;
        this.#options.log.warn(
          { err: error, what: this.#options.what },
          'reading was interrupted; starting over',
        );
        await this.#pause(failures);
      } finally {
        this.#connection?.disconnect();
        this.#connection = undefined;
      }
    }
  }

  async #connect(): Promise<Redis> {
    const connection = this.#options.handle.duplicate('blocking');
    this.#connection = connection;
    await new Promise<void>((resolve, reject) => {
      connection.once('ready', resolve);
      const lost = () => reject(new Error('the connection for reading was lost'));
      connection.once('close', lost);
      connection.once('end', lost); // alone where it was closed before its socket was opened
    });
    return connection;
  }

  async #readOn(connection: Redis): Promise<void> {
    const id = await connection.client('ID');
    const resumed = new Set<string>();
    while (!this.#closing.signal.aborted) {
      const pokes = this.#pokes;
      const streams = await this.#positions(resumed);
      if (streams.size === 0) {
        await this.#idle(pokes);
        continue;
      }
      const reading = this.#read(connection, streams);
      const stopWatching = this.#unblockOnPoke(id, pokes);
      const reply = await reading.finally(stopWatching);
      for (const { key, entries } of parseStreams(reply)) await this.#options.onEntries(key, entries);
    }
  }

  /** What to read after, by key; keys that are new are resumed first. */
  async #positions(resumed: Set<string>): Promise<Map<string, string>> {
    const keys = this.#options.keys();
    const named = new Set(keys);
    for (const key of resumed) if (!named.has(key)) resumed.delete(key);
    const positions = new Map<string, string>();
    for (const key of keys) {
      if (!resumed.has(key)) await this.#options.onResume(key);
      resumed.add(key);
      const after = this.#options.after(key);
      if (after !== undefined) positions.set(key, after);
    }
    return positions;
  }

  #read(connection: Redis, streams: ReadonlyMap<string, string>): Promise<unknown> {
    const { group, count } = this.#options;
    const command = group ? 'XREADGROUP' : 'XREAD';
    const head = group ? ['GROUP', group.name, group.consumer] : [];
    const how = ['COUNT', count, 'BLOCK', maxBlockMs, 'STREAMS'];
    return connection.call(command, [...head, ...how, ...streams.keys(), ...streams.values()]);
  }

  /**
   * Ends the read in flight once there is a poke: told over another connection, the server may hear it before the read
   * itself, so it is told again until the read has ended.
   */
  #unblockOnPoke(id: number, pokes: number): () => void {
    let ended = false;
    const unblock = async () => {
      while (!ended && !this.#closing.signal.aborted && this.#pokes !== pokes) {
        await this.#options.handle.redis.client('UNBLOCK', id);
        await delay(unblockEveryMs);
      }
    };
    const start = () => {
      unblock().catch((error: unknown) => {
        // The read then ends by itself, later.
        this.#options.log.debug({ err: error, what: this.#options.what }, 'a read could not be cut short');
      });
    };
    if (this.#pokes !== pokes) start();
    this.#wakeIdle = start;
    return () => {
      ended = true;
      this.#wakeIdle = undefined;
    };
  }

  async #idle(pokes: number): Promise<void> {
    if (this.#pokes !== pokes || this.#closing.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wakeIdle = resolve;
    });
    this.#wakeIdle = undefined;
  }

  async #pause(failures: number): Promise<void> {
    const ms = Math.min(backoffMs.first * 2 ** (failures - 1), backoffMs.most);
    await delay(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined); // closing: no more waiting
  }
}
