import { maxWaitMs, type PlacetError, type RequestRecord } from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';
import { Backoff, isPassing } from './patience.ts';

/** What is waited for, and how long. */
export interface WaitOptions {
  /** Finds the service anew: one that was started again may be elsewhere. */
  reach: () => Promise<PlacetClient>;
  team: string;
  id: string;
  /** Infinity waits for as long as the request does. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Told once each time the service goes away. */
  onTrouble: (error: PlacetError) => void;
}

/**
 * Waits until a request has ended and answers its record; one that is still pending when the time is over is
 * answered as it is. A service that goes away meanwhile is waited for; one that was never there is not.
 * @throws PlacetError whatever the service answers, or `service_unreachable` when it stays away until the time is over
 */
export async function waitForOutcome(options: WaitOptions): Promise<RequestRecord> {
  const { reach, team, id, timeoutMs, signal, onTrouble } = options;
  const endsAt = performance.now() + timeoutMs;
  const backoff = new Backoff();
  let reached = false;
  for (;;) {
    const leftMs = Math.max(0, endsAt - performance.now());
    try {
      const client = await reach();
      const waitMs = Math.floor(Math.min(leftMs, maxWaitMs));
      const call = { params: { team, id }, query: { timeoutMs: waitMs } };
      const { status, body } = await client.call('awaitDecision', call, { signal, waitMs });
      reached = true;
      backoff.reset();
      if (status === 200 || endsAt <= performance.now()) return body;
    } catch (error) {
      const worthIt = isPassing(error) && (reached || error.code !== 'service_unreachable');
      if (!worthIt || leftMs <= 0) throw error;
      if (backoff.fresh) onTrouble(error);
      await backoff.pause(signal, { atMostMs: leftMs, askedMs: error.retryAfterMs ?? 0 });
    }
  }
}
