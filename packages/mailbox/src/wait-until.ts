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
    const timer = ms === undefined ? undefined : setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', finish);
      resolve();
    }
    for (const signal of signals) signal?.addEventListener('abort', finish);
    promise.then(
      () => finish(),
      () => finish(),
    );
  });
}
