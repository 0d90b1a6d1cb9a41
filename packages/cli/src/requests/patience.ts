import { setTimeout as pause } from 'node:timers/promises';
import { isPlacetError, type PlacetError } from '@placet/protocol';

/** Whether the same call may succeed once the service or the store is back. */
export function isPassing(error: unknown): error is PlacetError {
  return isPlacetError(error, 'service_unreachable', 'store_unavailable', 'not_durable', 'rate_limited');
}

/** Pauses between attempts: 200 ms at first, twice as long each time up to 2 s, and as long as the service asks. */
export class Backoff {
  #attempt = 0;

  /** @throws the signal's reason when that aborts */
  async pause(signal: AbortSignal, { atMostMs = Number.POSITIVE_INFINITY, askedMs = 0 } = {}): Promise<void> {
    const ms = Math.min(200 * 2 ** this.#attempt, 2000) * (0.75 + Math.random() / 2);
    this.#attempt += 1;
    await pause(Math.max(0, Math.min(Math.max(ms, askedMs), atMostMs)), undefined, { signal });
  }

  /** Whether nothing failed since the last success. */
  get fresh(): boolean {
    return this.#attempt === 0;
  }

  reset(): void {
    this.#attempt = 0;
  }
}
