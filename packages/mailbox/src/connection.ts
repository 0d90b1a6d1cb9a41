import { PlacetError } from '@placet/protocol';
import { Redis, type RedisOptions } from 'ioredis';
import { type Log, silentLog } from './log.ts';
import { judgeRedis } from './redis-suitability.ts';
import { maskRedisUrl, parseRedisUrl } from './redis-url.ts';

/** The longest time that a blocking command of ours asks to wait, in milliseconds. */
export const maxBlockMs = 5000;

/** How to reach Redis. */
export interface ConnectOptions {
  /** `redis://`, `rediss://` or `unix://`; see {@link parseRedisUrl}. */
  url: string;
  /** Used where the URL has none. */
  password?: string | undefined;
  /** Shown in Redis' list of clients. */
  name: string;
  /** How long a command may take, in milliseconds; 2000 unless set (WR-30). */
  timeoutMs?: number | undefined;
  log?: Log | undefined;
}

/** One process' connection to Redis; it comes back by itself for as long as it is not closed (OP-6). */
export interface RedisHandle {
  /** For ordinary commands: they fail at once while Redis is away, and after `timeoutMs` in any case. */
  readonly redis: Redis;
  /** How this connection was made, for libraries that make their own (BullMQ's workers). Holds the password. */
  readonly options: RedisOptions;
  /**
   * Waits until Redis answers and is suitable.
   * @throws PlacetError `redis_unsuitable` when it is there but cannot be used, or refuses the password
   * @throws the signal's reason when that aborts
   */
  ready(signal?: AbortSignal): Promise<void>;
  state(): 'ready' | 'down';
  /**
   * Opens a connection whose commands may block for up to {@link maxBlockMs}; closed by the handle at the latest. A
   * command in flight when the connection is lost is rejected, never sent again.
   */
  duplicate(purpose: 'blocking'): Redis;
  /** Closes every connection it made. */
  close(): Promise<void>;
}

/**
 * Connects to Redis; returns at once and goes on trying for ever, at most a second apart. Commands are never sent
 * twice by themselves: whoever calls repeats what is idempotent (TM-45).
 * @throws PlacetError `config_invalid` for a malformed URL
 */
export function connectRedis(options: ConnectOptions): RedisHandle {
  return new Connection(options);
}

type Verdict = { kind: 'unknown' } | { kind: 'suitable' } | { kind: 'unsuitable'; error: PlacetError };

class Connection implements RedisHandle {
  readonly redis: Redis;
  readonly options: RedisOptions;
  readonly #log: Log;
  readonly #where: string;
  readonly #duplicates = new Set<Redis>();
  readonly #waiting = new Set<() => void>();
  #verdict: Verdict = { kind: 'unknown' };
  #saidDown = false;
  #closed = false;

  constructor({ url, password, name, timeoutMs = 2000, log = silentLog }: ConnectOptions) {
    const parsed = parseRedisUrl(url);
    this.#log = log;
    this.#where = maskRedisUrl(url);
    this.options = {
      ...parsed,
      ...(parsed.password === undefined && password !== undefined && { password }),
      connectionName: name,
      // The answers of RESP3 have other shapes for streams, even in ioredis' legacy mapping.
      protocol: 2,
      connectTimeout: Math.max(timeoutMs, 1000),
      retryStrategy: (attempt: number) =>
        Math.min(25 * 2 ** Math.min(attempt, 10), 1000) * (0.5 + Math.random() / 2),
    };
    this.redis = new Redis({
      ...this.options,
      ...failFast,
      commandTimeout: timeoutMs,
      // A connection that is only half there would time out every command for ever.
      socketTimeout: 3 * timeoutMs,
    });
    this.redis.on('error', (error: Error) => this.#onError(error));
    this.redis.on('ready', () => void this.#judge()); // never rejects
    this.redis.on('close', () => this.#onClose());
  }

  state(): 'ready' | 'down' {
    return this.redis.status === 'ready' && this.#verdict.kind === 'suitable' ? 'ready' : 'down';
  }

  async ready(signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#closed) throw new PlacetError('store_unavailable', 'the connection to Redis is closed');
      if (this.#verdict.kind === 'unsuitable') throw this.#verdict.error;
      if (this.state() === 'ready') return;
      await this.#change(signal);
    }
  }

  duplicate(_purpose: 'blocking'): Redis {
    const duplicate = new Redis({ ...this.options, ...failFast, socketTimeout: 3 * maxBlockMs });
    this.#duplicates.add(duplicate);
    duplicate.on('error', () => undefined); // the main connection says that Redis is away
    duplicate.on('end', () => this.#duplicates.delete(duplicate));
    return duplicate;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const connection of [this.redis, ...this.#duplicates]) connection.disconnect();
    this.#wake();
    return Promise.resolve();
  }

  /** Asks a server that has just answered what it is; a later server may be another one. */
  async #judge(): Promise<void> {
    try {
      const error = judgeRedis(await this.redis.info());
      this.#verdict = error ? { kind: 'unsuitable', error } : { kind: 'suitable' };
      if (error) this.#log.error({ redis: this.#where, code: error.code }, error.message);
      else if (this.#saidDown) this.#log.info({ redis: this.#where }, 'Redis is back');
      this.#saidDown = false;
      this.#wake();
    } catch (error) {
      if (this.#closed) return;
      this.#log.warn({ redis: this.#where, err: error }, 'Redis does not say what it is; connecting anew');
      this.redis.disconnect(true);
    }
  }

  #onError(error: Error): void {
    if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(error.message)) {
      const refused = new PlacetError(
        'redis_unsuitable',
        `Redis refuses us: ${error.message}. Check the password`,
      );
      this.#verdict = { kind: 'unsuitable', error: refused };
      this.#wake();
    }
    if (this.#saidDown || this.#closed) return;
    this.#saidDown = true;
    this.#log.warn({ redis: this.#where, err: error }, 'Redis does not answer; waiting for it');
  }

  #onClose(): void {
    if (this.#verdict.kind === 'suitable') this.#verdict = { kind: 'unknown' };
    if (this.#saidDown || this.#closed) return;
    this.#saidDown = true;
    this.#log.warn({ redis: this.#where }, 'the connection to Redis is lost; waiting for it');
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }
}

/**
 * Nothing waits for a Redis that is away, and nothing is sent twice. With autoResend off alone, ioredis forgets the
 * commands in flight when a connection closes and never settles them; no retries makes it reject them at once.
 */
const failFast = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions;
