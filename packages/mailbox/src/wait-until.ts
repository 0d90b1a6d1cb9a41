/**
 * Resolves when the promise settles, the signal aborts, or the time is over; never rejects. Leaves no listener behind.
 * For a signal of the caller's own: one that thousands listen to takes time quadratic in their number.
 */
export function waitUntil(
  promise: Promise<void>,
  signal: AbortSignal | undefined,
  ms?: number,
): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    }
    signal?.addEventListener('abort', finish);
    promise.then(
      () => finish(),
      () => finish(),
    );
  });
}
