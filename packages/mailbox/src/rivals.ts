import { setTimeout as delay } from 'node:timers/promises';
import { PlacetError } from '@placet/protocol';

/** How often a step is repeated at once because rivals went on: each time one of them is through. */
const maxOvertakings = 1000;

/**
 * Repeats a step for as long as someone holds what it needs: `step` answers for how long that is at most, in
 * milliseconds; 0 when a rival overtook it and it is to be repeated at once; undefined when it is through.
 * @throws PlacetError `store_unavailable` when it is held for longer than `waitMs`
 * @throws the signal's reason when it aborts
 */
export async function retryWhileHeld(
  waitMs: number,
  signal: AbortSignal | undefined,
  step: () => Promise<number | undefined>,
): Promise<void> {
  const giveUpAt = performance.now() + waitMs;
  let overtakings = 0;
  for (let heldMs = await step(); heldMs !== undefined; heldMs = await step()) {
    signal?.throwIfAborted();
    if (heldMs === 0 && overtakings < maxOvertakings) {
      overtakings += 1;
      continue;
    }
    if (performance.now() > giveUpAt) {
      throw new PlacetError(
        'store_unavailable',
        'a decision is being made for too long; repeat the same call',
        {
          retryAfterMs: 1000,
        },
      );
    }
    // Usually the rival is done in a few milliseconds; jitter keeps several that wait from coming at once.
    await delay(Math.min(heldMs, 10 + Math.random() * 40), undefined, { signal });
  }
}
