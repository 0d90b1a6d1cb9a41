import { type Log, PlacetError, silentLog } from '@placet/protocol';
import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import { ClusterConnection } from './cluster-connection.ts';
import { type Durability, infoField, judgeStrict, readDurability } from './durability.ts';
import { DurableWriter } from './durable-writer.ts';
import type { Hints } from './hints.ts';
import { Readiness } from './readiness.ts';
import type { RedisClient } from './redis-client.ts';
import { failFast, refusalOf, retryDelayMs } from './redis-manners.ts';
import { judgeRedis } from './redis-suitability.ts';
import { maskRedisUrl, parseRedisUrl } from './redis-url.ts';
import type { ScriptRunner } from './scripts.ts';

/** The longest time that a blocking command of ours asks to wait, in milliseconds. */
export const maxBlockMs = 5000;

/** How to reach Redis. */
export interface ConnectOptions {
  /** One server, a Cluster, or the master that Sentinels name; see {@link parseRedisUrl}. */
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

/** A server that takes writes. */
export interface RedisMaster {
  /** Host and port, where there are several. */
  name: string | undefined;
  redis: RedisClient;
}

/** One process' connection to Redis; it comes back by itself for as long as it is not closed (OP-6). */
export interface RedisHandle {
  /** For ordinary commands: they fail at once while Redis is away, and after `timeoutMs` in any case. */
  readonly redis: RedisClient;
  /** Runs the scripts that write: `redis`, or where replicas must acknowledge a connection that waits for them (TM-46). */
  readonly writer: ScriptRunner;
  /**
   * Waits until what was written before, by whomever, is as durable as is configured.
   * @throws PlacetError `not_durable`; whatever Redis throws
   */
  confirm(): Promise<void>;
  /** Only in a Cluster, where readers do not block (ST-8): says that something was written. */
  readonly hints: Hints | undefined;
  /** How this connection was made; in a Cluster, each of its nodes'. Holds the password. */
  readonly options: RedisOptions;
  /**
   * What BullMQ's workers are given: the options to make their own connections with or, in a Cluster, a connection of
   * their own, which waits for Redis however long it is away; closed by the handle at the latest.
   */
  workerConnection(): RedisOptions | Cluster;
  /**
   * Waits until Redis answers and is suitable.
   * @throws PlacetError `redis_unsuitable` when it is there but cannot be used, or refuses the password
   * @throws the signal's reason when that aborts
   */
  ready(signal?: AbortSignal): Promise<void>;
  state(): 'ready' | 'down';
  /** The server or, in a Cluster, every master known now, for asking each what it is. */
  masters(): RedisMaster[];
  /**
   * Calls back whenever a server was lost, or another took its place: what it acknowledged last may be gone. Answers how
   * to stop that.
   */
  onLost(listener: () => void): () => void;
  /**
   * Opens a connection whose commands may block for up to {@link maxBlockMs}; closed by the handle at the latest. A
   * command in flight when the connection is lost is rejected, never sent again.
   * @throws PlacetError `internal` in a Cluster
   */
  duplicate(purpose: 'blocking'): Redis;
  /** Closes every connection it made. */
  close(): Promise<void>;
}

/**
 * Connects to Redis; returns at once and goes on trying for ever, at most a second apart. Commands are never sent
 * twice by themselves: whoever calls repeats what is idempotent (TM-45).
 * @throws PlacetError `config_invalid` for a malformed URL, or a Cluster whose replicas are to acknowledge
 */
export function connectRedis(options: ConnectOptions): RedisHandle {
  const { url, password, name, timeoutMs = 2000, durability = standard, log = silentLog } = options;
  const place = parseRedisUrl(url);
  const shared: RedisOptions = {
    ...place.options,
    ...(place.options.password === undefined && password !== undefined && { password }),
    connectionName: name,
    // The answers of RESP3 have other shapes for streams, even in ioredis' legacy mapping.
    protocol: 2,
    connectTimeout: Math.max(timeoutMs, 1000),
    ...('sentinels' in place.options && behindSentinels(timeoutMs)),
  };
  const how = { where: maskRedisUrl(url), timeoutMs, durability, log };
  if (place.kind === 'cluster') return new ClusterConnection(place.nodes, shared, how);
  return new Connection(shared, how);
}

/** A master that the Sentinels have replaced is left at once, whether it still answers or hangs. */
function behindSentinels(timeoutMs: number): RedisOptions {
  return { sentinelCommandTimeout: timeoutMs, failoverDetector: true, disconnectTimeout: 200 };
}

/** What every kind of connection is made with. */
export interface Connecting {
  /** The URL as it may be printed. */
  where: string;
  timeoutMs: number;
  durability: Durability;
  log: Log;
}

const standard: Durability = { profile: 'standard', replicas: 0 };
/** How soon a replica is looked at again, in milliseconds. */
const replicaPauseMs = 500;

interface Writing {
  connection: Redis;
  writer: DurableWriter;
}

class Connection implements RedisHandle {
  readonly redis: Redis;
  readonly hints = undefined;
  readonly options: RedisOptions;
  readonly writer: ScriptRunner;
  readonly #writing: Writing | undefined;
  readonly #durability: Durability;
  readonly #log: Log;
  readonly #where: string;
  readonly #duplicates = new Set<Redis>();
  readonly #readiness: Readiness;
  #saidDown = false;
  /** The server that was last reached is a replica. */
  #isReplica = false;

  constructor(options: RedisOptions, { where, timeoutMs, durability, log }: Connecting) {
    this.#durability = durability;
    this.#log = log;
    this.#where = where;
    this.options = { ...options, retryStrategy: retryDelayMs };
    const ordinary: RedisOptions = {
      ...this.options,
      ...failFast,
      commandTimeout: timeoutMs,
      // A connection that is only half there would time out every command for ever.
      socketTimeout: 3 * timeoutMs,
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
      retryStrategy: (attempt) => (this.#isReplica ? replicaPauseMs : retryDelayMs(attempt)),
    };
    this.redis = new Redis(ordinary);
    this.#writing = this.#openWriter(ordinary, timeoutMs);
    this.writer = this.#writing?.writer ?? this.redis;
    this.#readiness = new Readiness(() =>
      [this.redis, this.#writing?.connection].every((one) => !one || one.status === 'ready'),
    );
    this.redis.on('error', (error: Error) => this.#onError(error));
    this.redis.on('ready', () => void this.#judge()); // never rejects
    this.redis.on('close', () => this.#onClose());
  }

  state(): 'ready' | 'down' {
    return this.#readiness.state;
  }

  async confirm(): Promise<void> {
    await this.#writing?.writer.confirm();
  }

  ready(signal?: AbortSignal): Promise<void> {
    return this.#readiness.wait(signal);
  }

  workerConnection(): RedisOptions {
    return this.options;
  }

  masters(): RedisMaster[] {
    return [{ name: undefined, redis: this.redis }];
  }

  onLost(listener: () => void): () => void {
    this.redis.on('close', listener);
    return () => this.redis.off('close', listener);
  }

  duplicate(_purpose: 'blocking'): Redis {
    const duplicate = new Redis({ ...this.options, ...failFast, socketTimeout: 3 * maxBlockMs });
    this.#duplicates.add(duplicate);
    duplicate.on('error', () => undefined); // the main connection says that Redis is away
    duplicate.on('end', () => this.#duplicates.delete(duplicate));
    return duplicate;
  }

  close(): Promise<void> {
    for (const connection of [this.redis, this.#writing?.connection, ...this.#duplicates])
      connection?.disconnect();
    this.#readiness.close();
    return Promise.resolve();
  }

  /** Asks a server that has just answered what it is; a later server may be another one. */
  async #judge(): Promise<void> {
    try {
      const info = await this.redis.info();
      if (this.#shun(infoField(info, 'role') === 'slave')) return;
      const error = await this.#judgeServer(info);
      if (error) this.#log.error({ redis: this.#where, code: error.code }, error.message);
      else if (this.#saidDown) this.#log.info({ redis: this.#where }, 'Redis is back');
      this.#saidDown = false;
      this.#readiness.judged(error ? { kind: 'unsuitable', error } : { kind: 'suitable' });
    } catch (error) {
      if (this.#readiness.isClosed) return;
      this.#log.warn({ redis: this.#where, err: error }, 'Redis does not say what it is; connecting anew');
      this.redis.disconnect(true);
    }
  }

  async #judgeServer(info: string): Promise<PlacetError | undefined> {
    const { profile, replicas } = this.#durability;
    const fault = infoField(info, 'cluster_enabled') === '1' ? nodeOfCluster() : judgeRedis(info);
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
    connection.on('ready', () => this.#readiness.wake());
    // A call waits for the batch before its own, too, and must be answered within its time (WR-30).
    const writer = new DurableWriter({ redis: connection, replicas, waitMs: Math.floor(timeoutMs * 0.4) });
    return { connection, writer };
  }

  #onError(error: Error): void {
    const refused = refusalOf(error);
    if (refused) this.#readiness.judged({ kind: 'unsuitable', error: refused });
    if (this.#saidDown || this.#readiness.isClosed) return;
    this.#saidDown = true;
    this.#log.warn({ redis: this.#where, err: error }, 'Redis does not answer; waiting for it');
  }

  #onClose(): void {
    this.#readiness.lost();
    if (this.#saidDown || this.#readiness.isClosed) return;
    this.#saidDown = true;
    this.#log.warn({ redis: this.#where }, 'the connection to Redis is lost; waiting for it');
  }
}

function nodeOfCluster(): PlacetError {
  return new PlacetError(
    'redis_unsuitable',
    'this Redis is a node of a Cluster, whose other nodes would not be used: name it by redis+cluster://host:port,… instead',
  );
}
