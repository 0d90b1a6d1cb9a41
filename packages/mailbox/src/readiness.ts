import { PlacetError } from '@placet/protocol';

/** What is known of the Redis that answers. */
export type Verdict = { kind: 'unknown' } | { kind: 'suitable' } | { kind: 'unsuitable'; error: PlacetError };

/** Whether a Redis can be used, and everyone who waits until it can. Does no I/O. */
export class Readiness {
  readonly #isConnected: () => boolean;
  readonly #waiting = new Set<() => void>();
  #verdict: Verdict = { kind: 'unknown' };
  #closed = false;

  /** `isConnected` is asked whenever somebody is told; call {@link wake} when its answer may have changed. */
  constructor(isConnected: () => boolean) {
    this.#isConnected = isConnected;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get state(): 'ready' | 'down' {
    return this.#verdict.kind === 'suitable' && this.#isConnected() ? 'ready' : 'down';
  }

  judged(verdict: Verdict): void {
    this.#verdict = verdict;
    this.wake();
  }

  /** What was suitable may be gone. One that is unsuitable stays so until another answer. */
  lost(): void {
    if (this.#verdict.kind === 'suitable') this.#verdict = { kind: 'unknown' };
  }

  /**
   * Waits until it is ready.
   * @throws PlacetError `redis_unsuitable`; `store_unavailable` once closed
   * @throws the signal's reason when that aborts
   */
  async wait(signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#closed) throw new PlacetError('store_unavailable', 'the connection to Redis is closed');
      if (this.#verdict.kind === 'unsuitable') throw this.#verdict.error;
      if (this.state === 'ready') return;
      await this.#change(signal);
    }
  }

  close(): void {
    this.#closed = true;
    this.wake();
  }

  wake(): void {
    for (const done of this.#waiting) done();
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
}
