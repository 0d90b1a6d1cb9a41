import {
  PlacetError,
  type RequestId,
  type RequestRecord,
  type TeamEvent,
  type TeamName,
} from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import type { EventLog } from './event-log.ts';
import type { Log } from './log.ts';

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
  /** 10,000 unless set (ST-6). */
  maxWaiters?: number | undefined;
}

/** One blocking reader of a process, which feeds everyone there who follows events or waits for requests (ST-6). */
export class EventHub {
  constructor(_options: EventHubOptions) {}

  /**
   * Follows a team's events: those after `after`, else those from now on. Ends when `signal` aborts or the hub closes.
   * @throws PlacetError `rate_limited` where too many follow or wait already
   */
  subscribe(
    _team: TeamName,
    _after: string | undefined,
    _signal: AbortSignal,
  ): AsyncGenerator<FeedItem, void, void> {
    throw new PlacetError('internal', 'not built yet');
  }

  /** Waits until a request is terminal, at most `timeoutMs`; `signal` aborting rejects with its reason. */
  waitForRequest(
    _team: TeamName,
    _requestId: RequestId,
    _timeoutMs: number,
    _signal?: AbortSignal,
  ): Promise<WaitResult> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Ends every subscription and wait. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
