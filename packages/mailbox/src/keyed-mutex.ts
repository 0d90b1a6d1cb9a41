/** Lets one caller at a time act on a key, in the order in which they came. Keys nobody waits for cost nothing. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Whether someone holds the key now. */
  isHeld(key: string): boolean {
    return this.#tails.has(key);
  }

  /**
   * Acts when everyone before is done.
   * @param waitSignal is asked only where there is a wait; what it aborts with is thrown, and `act` does not run.
   */
  async run<Result>(key: string, waitSignal: () => AbortSignal, act: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key);
    let release = () => {};
    const done = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Also one that gave up keeps its place until those before it are done, or its followers would overtake them.
    const tail = before ? before.then(() => done) : done;
    this.#tails.set(key, tail);
    try {
      if (before) await unlessAborted(before, waitSignal());
      return await act();
    } finally {
      release();
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
