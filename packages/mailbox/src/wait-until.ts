/**
 * Resolves when the promise settles, one of the signals aborts, or the time is over; never rejects. Leaves no listener
 * behind, unlike `AbortSignal.any` with a signal that lives as long as the process.
 */
export function waitUntil(
  promise: Promise<void>,
  signals: readonly (AbortSignal | undefined)[],
  ms?: number,
): Promise<void> {
  if (signals.some((signal) => signal?.aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', done);
      resolve();
    }
    for (const signal of signals) signal?.addEventListener('abort', done);
    promise.then(
      () => done(),
      () => done(),
    );
  });
}
