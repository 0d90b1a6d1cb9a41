import { PlacetError } from '@placet/protocol';
import type { Redis } from 'ioredis';
import type { ScriptRunner } from './scripts.ts';

/** What a durable writer is made of. */
export interface DurableWriterOptions {
  /** A connection that nothing else uses: WAIT speaks of what its own connection sent, and holds up what comes behind. */
  redis: Redis;
  /** How many replicas must acknowledge. */
  replicas: number;
  /** How long they may take, in milliseconds. A call can wait for the batch before it too, hence twice as long. */
  waitMs: number;
}

interface Call {
  send: () => Promise<unknown>;
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

/** At most so many calls share a WAIT. */
const maxBatch = 256;
/**
 * Published between the scripts and their WAIT: a replayed script writes nothing, and WAIT covers only what its
 * connection wrote. Replicated like any write, it stands behind whatever the replay found, and leaves nothing behind.
 */
const markChannel = 'placet:mark';

/**
 * Answers a script only once enough replicas have what it wrote, or what it found written (TM-46). What is called while
 * a batch is on its way goes with the next, under one WAIT.
 */
export class DurableWriter implements ScriptRunner {
  readonly #redis: Redis;
  readonly #replicas: number;
  readonly #waitMs: number;
  readonly #queue: Call[] = [];
  #running = false;

  constructor({ redis, replicas, waitMs }: DurableWriterOptions) {
    this.#redis = redis;
    this.#replicas = replicas;
    this.#waitMs = waitMs;
  }

  /** @throws PlacetError `not_durable` when too few replicas acknowledged in time: it may have happened */
  evalsha(sha: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown> {
    return this.#call(() => this.#redis.evalsha(sha, keyCount, ...rest));
  }

  /** @throws as {@link evalsha} */
  eval(source: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown> {
    return this.#call(() => this.#redis.eval(source, keyCount, ...rest));
  }

  /** Waits until enough replicas have everything written before, by whomever. @throws as {@link evalsha} */
  async confirm(): Promise<void> {
    await this.#call(() => Promise.resolve());
  }

  #call(send: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ send, resolve, reject });
      if (!this.#running) void this.#run(); // never rejects
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queue.length > 0) await this.#sendBatch(this.#queue.splice(0, maxBatch));
    this.#running = false;
  }

  /** Sends everything in one go, in this order. Never rejects. */
  async #sendBatch(batch: readonly Call[]): Promise<void> {
    const replies = Promise.allSettled(batch.map(({ send }) => send()));
    const [, acknowledged] = await Promise.allSettled([
      this.#redis.publish(markChannel, ''),
      this.#redis.wait(this.#replicas, this.#waitMs),
    ]);
    const fault = this.#faultOf(acknowledged);
    for (const [place, reply] of (await replies).entries()) {
      const call = batch[place];
      if (reply.status === 'rejected') call?.reject(reply.reason);
      else if (fault === undefined) call?.resolve(reply.value);
      else call?.reject(fault);
    }
  }

  #faultOf(acknowledged: PromiseSettledResult<number>): unknown {
    if (acknowledged.status === 'rejected') return acknowledged.reason;
    if (acknowledged.value >= this.#replicas) return undefined;
    return new PlacetError(
      'not_durable',
      `${acknowledged.value} of ${this.#replicas} replicas acknowledged within ${this.#waitMs} ms: it may have happened. Repeat the same call; look at Redis' replicas if that goes on`,
      { retryAfterMs: 1000 },
    );
  }
}
