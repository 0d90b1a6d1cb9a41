import { PlacetError } from '@placet/protocol';
import { Cluster, type ClusterOptions, type Redis, type RedisOptions } from 'ioredis';
import type { Connecting, RedisHandle, RedisMaster } from './connection.ts';
import { DirectCluster } from './direct-cluster.ts';
import { infoField, judgeStrict, readDurability } from './durability.ts';
import { ClusterHints, HintingWriter } from './hints.ts';
import { Readiness } from './readiness.ts';
import { failFast, refusalOf, retryDelayMs } from './redis-manners.ts';
import { judgeRedis } from './redis-suitability.ts';
import type { RedisNode } from './redis-url.ts';
import type { ScriptRunner } from './scripts.ts';

/** How soon a Cluster that does not work is looked at again, in milliseconds. */
const lookAgainMs = 500;
/** How often the nodes are looked up even where nothing says that they have changed, in milliseconds. */
const refreshMs = 5000;

/** One process' connection to a Redis Cluster: each team lies on one of its masters, and each master is judged. */
export class ClusterConnection implements RedisHandle {
  readonly redis: Cluster;
  readonly hints: ClusterHints;
  readonly writer: ScriptRunner;
  readonly options: RedisOptions;
  readonly #nodes: readonly RedisNode[];
  readonly #how: Connecting;
  readonly #readiness: Readiness;
  readonly #judged = new WeakSet<Redis>();
  readonly #workers = new Set<Cluster>();
  readonly #lostListeners = new Set<() => void>();
  #masters = '';
  #judging = false;
  #lookAgain: NodeJS.Timeout | undefined;
  #saidDown = false;

  constructor(nodes: readonly RedisNode[], options: RedisOptions, how: Connecting) {
    if (how.durability.replicas > 0 && how.durability.profile === 'strict')
      throw new PlacetError(
        'config_invalid',
        'in a Cluster no replica is waited for: set replicas to 0, or use Sentinel (redis+sentinel://) where replicas must acknowledge',
      );
    this.#nodes = nodes;
    this.#how = how;
    this.options = options;
    this.redis = new DirectCluster([...nodes], {
      ...this.#clusterOptions(how.timeoutMs),
      redisOptions: {
        ...options,
        replyMapping: 'legacy',
        autoResendUnfulfilledCommands: failFast.autoResendUnfulfilledCommands,
        maxRetriesPerRequest: failFast.maxRetriesPerRequest,
        commandTimeout: how.timeoutMs,
        socketTimeout: 3 * how.timeoutMs,
      },
      // What was sent to a node that is lost may have happened: whoever called repeats it.
      retryDelayOnFailover: 0,
    });
    this.hints = new ClusterHints(this.redis, how.log);
    this.writer = new HintingWriter(this.redis, this.hints);
    this.#readiness = new Readiness(() => this.redis.status === 'ready');
    this.#listen();
  }

  state(): 'ready' | 'down' {
    return this.#readiness.state;
  }

  /** No replica is waited for. */
  confirm(): Promise<void> {
    return Promise.resolve();
  }

  ready(signal?: AbortSignal): Promise<void> {
    return this.#readiness.wait(signal);
  }

  workerConnection(): Cluster {
    const redisOptions = { ...this.options, replyMapping: 'legacy' as const, maxRetriesPerRequest: null };
    const { timeoutMs } = this.#how;
    const cluster = new Cluster([...this.#nodes], { ...this.#clusterOptions(timeoutMs), redisOptions });
    this.#workers.add(cluster);
    cluster.on('error', () => undefined); // the main connection says that Redis is away
    cluster.on('end', () => this.#workers.delete(cluster));
    return cluster;
  }

  masters(): RedisMaster[] {
    return this.redis.nodes('master').map((redis) => ({ name: nameOf(redis), redis }));
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  duplicate(): never {
    throw new PlacetError('internal', 'in a Cluster nothing blocks: a blocking read covers one slot (ST-8)');
  }

  close(): Promise<void> {
    clearTimeout(this.#lookAgain);
    for (const cluster of [this.redis, ...this.#workers]) cluster.disconnect();
    this.#readiness.close();
    return Promise.resolve();
  }

  /** Reads go to masters only (TM-45). */
  #clusterOptions(timeoutMs: number): ClusterOptions {
    return {
      scaleReads: 'master',
      clusterRetryStrategy: retryDelayMs,
      slotsRefreshTimeout: Math.max(timeoutMs, 1000),
      slotsRefreshInterval: refreshMs,
      // A certificate names hosts; an address that stands in a host's place would not match it.
      dnsLookup: (address, found) => found(null, address),
    };
  }

  #listen(): void {
    this.redis.on('error', (error: Error) => this.#onFault(error));
    this.redis.on('node error', (error: Error) => this.#onFault(error));
    this.redis.on('close', () => this.#onLost());
    this.redis.on('-node', ({ options }: Redis) => {
      if (!options.readOnly) this.#onLost(); // of replicas nothing is read
    });
    for (const event of ['ready', 'refresh', '-node']) this.redis.on(event, () => void this.#look()); // never rejects
  }

  /** Asks the Cluster whether it works, and every master that is new what it is. Never rejects. */
  async #look(): Promise<void> {
    if (this.#judging || this.#readiness.isClosed || this.redis.status !== 'ready') return;
    this.#judging = true;
    clearTimeout(this.#lookAgain);
    try {
      this.#noteMasters();
      await this.#judge();
    } catch (error) {
      this.#readiness.lost();
      this.#sayDown(error);
    }
    this.#judging = false;
    if (!this.#readiness.isClosed && this.#readiness.verdict.kind === 'unknown')
      this.#lookAgain = setTimeout(() => {
        this.redis.refreshSlotsCache(); // ends with another look
        void this.#look();
      }, lookAgainMs);
  }

  /** @throws Error while the Cluster does not work, or does not answer */
  async #judge(): Promise<void> {
    const state = infoField(String(await this.redis.cluster('INFO')), 'cluster_state');
    if (state !== 'ok') throw new Error(`the Cluster says that its state is "${state}"`);
    const masters = this.redis.nodes('master');
    const judgements = await Promise.allSettled(masters.map((master) => this.#judgeMaster(master)));
    const silent = judgements.find((one) => one.status === 'rejected');
    if (silent && judgements.every(({ status }) => status === 'rejected')) throw silent.reason;
    const fault = judgements.flatMap((one) =>
      one.status === 'fulfilled' && one.value ? [one.value] : [],
    )[0];
    if (this.#readiness.isClosed) return;
    const { log, where } = this.#how;
    if (fault) log.error({ redis: where, code: fault.code }, fault.message);
    else if (this.#saidDown) log.info({ redis: where }, 'the Cluster is back');
    this.#saidDown = false;
    this.#readiness.judged(fault ? { kind: 'unsuitable', error: fault } : { kind: 'suitable' });
  }

  /** Undefined where it will do. One that is a replica by now is left to the next look. */
  async #judgeMaster(master: Redis): Promise<PlacetError | undefined> {
    if (this.#judged.has(master)) return undefined;
    const info = await master.info();
    if (infoField(info, 'role') === 'slave') return undefined;
    const strict = this.#how.durability.profile === 'strict';
    const fault = judgeRedis(info) ?? (strict ? judgeStrict(await readDurability(master, info)) : undefined);
    if (!fault) this.#judged.add(master);
    return (
      fault && new PlacetError(fault.code, `${nameOf(master)}, a master of the Cluster: ${fault.message}`)
    );
  }

  /** Another set of masters is another place: the new one may be behind the old. */
  #noteMasters(): void {
    const now = this.redis.nodes('master').map(nameOf).sort().join(' ');
    if (this.#masters !== '' && this.#masters !== now) this.#tellLost();
    this.#masters = now;
  }

  /** Before the first look, a node that leaves was only another name of one that stays. */
  #onLost(): void {
    const wasSuitable = this.#readiness.verdict.kind === 'suitable';
    this.#readiness.lost();
    this.#tellLost();
    if (wasSuitable) this.#sayDown(undefined);
  }

  #onFault(error: Error): void {
    const refused = /cluster support disabled/.test(error.message) ? noCluster() : refusalOf(error);
    if (refused) this.#readiness.judged({ kind: 'unsuitable', error: refused });
    this.#sayDown(error);
  }

  #tellLost(): void {
    for (const listener of this.#lostListeners) listener();
  }

  #sayDown(error: unknown): void {
    if (this.#saidDown || this.#readiness.isClosed) return;
    this.#saidDown = true;
    const { log, where } = this.#how;
    log.warn({ redis: where, err: error }, 'the Cluster, or a node of it, does not answer; waiting for it');
  }
}

function nameOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

function noCluster(): PlacetError {
  return new PlacetError(
    'redis_unsuitable',
    'this Redis is no Cluster: name it by redis://host:port instead of redis+cluster://',
  );
}
