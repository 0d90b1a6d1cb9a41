import { PlacetError } from '@placet/protocol';
import { Redis, type RedisOptions } from 'ioredis';
import { type Durability, infoField, judgeStrict, readDurability } from './durability.ts';
import { DurableWriter } from './durable-writer.ts';
import { type Log, silentLog } from './log.ts';
import { judgeRedis } from './redis-suitability.ts';
import { maskRedisUrl, parseRedisUrl } from './redis-url.ts';
import type { ScriptRunner } from './scripts.ts';

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
  /** `standard` unless set: a write is done when Redis answers (TM-46). */
  durability?: Durability | undefined;
  log?: Log | undefined;
}

/** One process' connection to Redis; it comes back by itself for as long as it is not closed (OP-6). */
export interface RedisHandle {
  /** For ordinary commands: they fail at once while Redis is away, and after `timeoutMs` in any case. */
  readonly redis: Redis;
  /** Runs the scripts that write: `redis`, or where replicas must acknowledge a connection that waits for them (TM-46). */
  readonly writer: ScriptRunner;
  /**
   * Waits until what was written before, by whomever, is as durable as is configured.
   * @throws PlacetError `not_durable`; whatever Redis throws
   */
  confirm(): Promise<void>;
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

const standard: Durability = { profile: 'standard', replicas: 0 };
/** How soon a replica is looked at again, in milliseconds. */
const replicaPauseMs = 500;

interface Writing {
  connection: Redis;
  writer: DurableWriter;
}

type Verdict = { kind: 'unknown' } | { kind: 'suitable' } | { kind: 'unsuitable'; error: PlacetError };

class Connection implements RedisHandle {
  readonly redis: Redis;
  readonly options: RedisOptions;
  readonly writer: ScriptRunner;
  readonly #writing: Writing | undefined;
  readonly #durability: Durability;
  readonly #log: Log;
  readonly #where: string;
  readonly #duplicates = new Set<Redis>();
  readonly #waiting = new Set<() => void>();
  #verdict: Verdict = { kind: 'unknown' };
  #saidDown = false;
  /** The server that was last reached is a replica. */
  #isReplica = false;
  #closed = false;

  constructor(options: ConnectOptions) {
    const { url, password, name, timeoutMs = 2000, durability = standard, log = silentLog } = options;
    const parsed = parseRedisUrl(url);
    this.#durability = durability;
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
    const { retryStrategy } = this.options;
    const ordinary: RedisOptions = {
      ...this.options,
      ...failFast,
      commandTimeout: timeoutMs,
      // A connection that is only half there would time out every command for ever.
      socketTimeout: 3 * timeoutMs,
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
      retryStrategy: (attempt) => (this.#isReplica ? replicaPauseMs : retryStrategy?.(attempt)),
    };
    this.redis = new Redis(ordinary);
    this.#writing = this.#openWriter(ordinary, timeoutMs);
    this.writer = this.#writing?.writer ?? this.redis;
    this.redis.on('error', (error: Error) => this.#onError(error));
    this.redis.on('ready', () => void this.#judge()); // never rejects
    this.redis.on('close', () => this.#onClose());
  }

  state(): 'ready' | 'down' {
    const connected = [this.redis, this.#writing?.connection].every((one) => !one || one.status === 'ready');
    return connected && this.#verdict.kind === 'suitable' ? 'ready' : 'down';
  }

  async confirm(): Promise<void> {
    await this.#writing?.writer.confirm();
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
    for (const connection of [this.redis, this.#writing?.connection, ...this.#duplicates])
      connection?.disconnect();
    this.#wake();
    return Promise.resolve();
  }

  /** Asks a server that has just answered what it is; a later server may be another one. */
  async #judge(): Promise<void> {
    try {
      const info = await this.redis.info();
      if (this.#shun(infoField(info, 'role') === 'slave')) return;
      const error = await this.#judgeServer(info);
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

  async #judgeServer(info: string): Promise<PlacetError | undefined> {
    const { profile, replicas } = this.#durability;
    const fault = judgeRedis(info);
    if (fault || profile === 'standard') return fault;
    const given = await readDurability(this.redis, info);
    if (given.replicas < replicas)
      this.#log.warn(
        { redis: this.#where, replicas: given.replicas, wanted: replicas },
        'too few replicas follow this Redis: until they do, nothing that is written counts as done',
      );
    return judgeStrict(given);
  }

  /** A replica may be behind: nothing is read from it (TM-45). It may be promoted, so it is looked at again. */
  #shun(isReplica: boolean): boolean {
    if (isReplica && !this.#isReplica)
      this.#log.warn({ redis: this.#where }, 'this Redis is a replica; waiting for it to be the master');
    this.#isReplica = isReplica;
    if (isReplica) this.redis.disconnect(true);
    return isReplica;
  }

  /** A second connection, where replicas must acknowledge what is written. */
  #openWriter(options: RedisOptions, timeoutMs: number): Writing | undefined {
    const { profile, replicas } = this.#durability;
    if (profile === 'standard' || replicas === 0) return undefined;
    const connection = new Redis(options);
    connection.on('error', () => undefined); // the main connection says that Redis is away
    connection.on('ready', () => this.#wake());
    // A call waits for the batch before its own, too, and must be answered within its time (WR-30).
    const writer = new DurableWriter({ redis: connection, replicas, waitMs: Math.floor(timeoutMs * 0.4) });
    return { connection, writer };
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
