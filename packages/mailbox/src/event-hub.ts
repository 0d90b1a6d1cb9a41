import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  fromTimestamp,
  isPlacetError,
  isTerminal,
  type Log,
  PlacetError,
  type RequestId,
  type RequestRecord,
  silentLog,
  type TeamEvent,
  type TeamName,
} from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { type EventLog, eventOfEntry } from './event-log.ts';
import { keyOf } from './keys.ts';
import { StreamReader } from './stream-reader.ts';
import { TeamFeed } from './team-feed.ts';
import { waitUntil } from './wait-until.ts';

/** What a subscriber gets: events in order, or that it must fetch everything anew and goes on from `id`. */
export type FeedItem = { kind: 'event'; event: TeamEvent } | { kind: 'reset'; id: string };

/** What came of waiting for a request. */
export type WaitResult =
  /** It is terminal. */
  | { kind: 'ended'; record: RequestRecord }
  /** It is still pending: the time is over, this process has too many waiters, or it stops. */
  | { kind: 'pending'; record: RequestRecord; why: 'timeout' | 'busy' | 'closed' }
  | { kind: 'absent' };

/** What the hub reads records with; `get` expires lazily (WR-24). */
export interface RequestReader {
  get(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined>;
}

/** What a hub is made of. */
export interface EventHubOptions {
  handle: RedisHandle;
  events: EventLog;
  requests: RequestReader;
  log?: Log | undefined;
  /** How many may follow or wait at once; 10,000 unless set (ST-6). */
  maxWaiters?: number | undefined;
}

const pageSize = 200;
/** How soon to try again while the store is away, should nobody tell that it is back. */
const retryMs = 1000;

/** One reader of a process, which feeds everyone there who follows events or waits for requests (ST-6). */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #maxWaiters: number;
  readonly #feeds = new Map<string, { team: TeamName; feed: TeamFeed }>();
  readonly #reader: StreamReader;
  readonly #closing = new AbortController();
  readonly #reads = new Map<string, Promise<RequestRecord | undefined>>();
  #waiters = 0;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#maxWaiters = options.maxWaiters ?? 10_000;
    this.#reader = new StreamReader({
      handle: options.handle,
      log: options.log ?? silentLog,
      what: 'events',
      count: pageSize,
      keys: () => this.#followed(),
      keyOfTeam: (team) => keyOf(team, 'events'),
      after: (key) => this.#feeds.get(key)?.feed.position,
      onEntries: (key, entries) => {
        const known = this.#feeds.get(key);
        known?.feed.push(entries.map((entry) => eventOfEntry(known.team, entry)));
      },
      onResume: (key) => this.#align(key),
    });
  }

  /** How many follow or wait now. */
  get waiters(): number {
    return this.#waiters;
  }

  /**
   * Follows a team's events: those after `after`, else those from now on. Ends when `signal` aborts or the hub closes.
   * @throws PlacetError `rate_limited` where too many follow or wait already
   */
  async *subscribe(
    team: TeamName,
    after: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<FeedItem, void, void> {
    if (this.#waiters >= this.#maxWaiters)
      throw new PlacetError('rate_limited', 'too many follow events here; try again later', {
        retryAfterMs: 5000,
      });
    const feed = this.#enter(team);
    try {
      let position = after ?? (await this.#options.events.last(team));
      while (!signal.aborted && !this.#closing.signal.aborted) {
        const changed = feed.change(); // registered before reading: nothing falls between
        const events = feed.since(position) ?? (await this.#readLog(team, position));
        if (events === undefined) {
          await waitUntil(changed, signal, retryMs);
          continue;
        }
        if (!Array.isArray(events)) yield { kind: 'reset', id: events.last };
        else for (const event of events) yield { kind: 'event', event };
        const last = Array.isArray(events) ? events.at(-1)?.id : events.last;
        if (last === undefined) await waitUntil(changed, signal);
        else position = last;
      }
    } finally {
      this.#leave(feed);
    }
  }

  /** Waits until a request is terminal, at most `timeoutMs`; `signal` aborting rejects with its reason. */
  async waitForRequest(
    team: TeamName,
    requestId: RequestId,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<WaitResult> {
    const busy = this.#waiters >= this.#maxWaiters;
    if (busy || this.#closing.signal.aborted) {
      return resultOf(await this.#options.requests.get(team, requestId), busy ? 'busy' : 'closed');
    }
    const feed = this.#enter(team);
    const giveUpAt = performance.now() + timeoutMs;
    let last: RequestRecord | undefined;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const ended = feed.ending(requestId); // registered before reading
        try {
          const leftMs = giveUpAt - performance.now();
          const record = await this.#look(team, requestId, last);
          const closed = this.#closing.signal.aborted;
          if (record === undefined || isTerminal(record.state) || closed || leftMs <= 0)
            return resultOf(record, closed ? 'closed' : 'timeout');
          const ms = record === last ? retryMs : untilDeadlineMs(record);
          last = record;
          await waitUntil(ended.promise, signal, Math.ceil(Math.min(leftMs, ms)));
        } finally {
          ended.forget();
        }
      }
    } finally {
      this.#leave(feed);
    }
  }

  /** Ends every subscription and wait. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { feed } of this.#feeds.values()) feed.wakeAll();
    await this.#reader.close();
  }

  /** The record; where the store is away and it was seen before, as it was then: who waits goes on waiting (OP-6). */
  async #look(
    team: TeamName,
    requestId: RequestId,
    last: RequestRecord | undefined,
  ): Promise<RequestRecord | undefined> {
    try {
      return await this.#readShared(team, requestId);
    } catch (error) {
      if (last && isPlacetError(error, 'store_unavailable')) return last;
      throw error;
    }
  }

  /**
   * One read for all who ask for it in one turn of the event loop. It is sent after the last of them asked, hence after
   * they registered: an older one could have been sent before the end that they then never hear of.
   */
  #readShared(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined> {
    const key = `${team} ${requestId}`;
    const known = this.#reads.get(key);
    if (known) return known;
    const read = nextTurn().then(() => {
      this.#reads.delete(key);
      return this.#options.requests.get(team, requestId);
    });
    this.#reads.set(key, read);
    return read;
  }

  /** Undefined where the store is away. */
  async #readLog(team: TeamName, after: string): Promise<TeamEvent[] | { last: string } | undefined> {
    try {
      const page = await this.#options.events.read(team, after, pageSize);
      return page.reset ? { last: page.last } : page.events;
    } catch (error) {
      if (isPlacetError(error, 'store_unavailable')) return undefined;
      throw error;
    }
  }

  #enter(team: TeamName): TeamFeed {
    this.#waiters += 1;
    const key = keyOf(team, 'events');
    const known = this.#feeds.get(key);
    const feed = known?.feed ?? new TeamFeed();
    feed.users += 1;
    if (!known) {
      this.#feeds.set(key, { team, feed });
      this.#reader.start();
      this.#reader.poke();
    }
    return feed;
  }

  #leave(feed: TeamFeed): void {
    this.#waiters -= 1;
    feed.users -= 1;
  }

  /** The keys of teams that somebody follows; the others are dropped here. */
  #followed(): string[] {
    for (const [key, { feed }] of this.#feeds) if (feed.users === 0) this.#feeds.delete(key);
    return [...this.#feeds.keys()];
  }

  /** A feed starts where the log ends now; those who wait look once more, for they may have read before that. */
  async #align(key: string): Promise<void> {
    const known = this.#feeds.get(key);
    known?.feed.restart(await this.#options.events.last(known.team));
  }
}

function resultOf(record: RequestRecord | undefined, why: 'timeout' | 'busy' | 'closed'): WaitResult {
  if (!record) return { kind: 'absent' };
  return isTerminal(record.state) ? { kind: 'ended', record } : { kind: 'pending', record, why };
}

/** When to look whether the deadline has passed. Where our clock is ahead of the store's, again after a moment. */
function untilDeadlineMs(record: RequestRecord): number {
  const ms = fromTimestamp(record.deadline) - Date.now();
  return ms > 0 ? ms + 5 : 250;
}
