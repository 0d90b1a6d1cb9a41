import type { Socket } from 'node:net';

/** A signal with what it holds on to. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Stops watching; to be called once the signal is of no use any more. */
  release(): void;
}

/**
 * Watches for the end of a call that waits: aborts when the client's connection is closed or the service stops. Not
 * `AbortSignal.any`: connections live on after a call, and the service lives longest.
 */
export function watchEnd(socket: Socket, stopping: AbortSignal): Watch {
  const end = new AbortController();
  const abort = () => end.abort();
  if (socket.destroyed || stopping.aborted) abort();
  socket.once('close', abort);
  stopping.addEventListener('abort', abort, { once: true });
  return {
    signal: end.signal,
    release: () => {
      socket.removeListener('close', abort);
      stopping.removeEventListener('abort', abort);
    },
  };
}
