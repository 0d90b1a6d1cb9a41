import { maxTimerMs } from '../questions/timer.ts';

/** How waiting for a decision ended: with it, or closed, which means still planning (PM-77). */
export type AwaitedOutcome<T> =
  | { kind: 'decided'; decision: T }
  | { kind: 'closed'; cause: 'deadline' | 'withdrawn' | 'failed' };

/**
 * Waits for a decision so that waiting always ends (PM-77): by the decision, by the deadline, by `signal` (withdrawn,
 * or the surface is gone), or by the decision's failing. All but the first are closed, and nothing is thrown. What
 * comes after the end changes nothing.
 */
export async function awaitOutcome<T>(
  decision: Promise<T>,
  { deadlineInMs, signal }: { deadlineInMs: number; signal: AbortSignal },
): Promise<AwaitedOutcome<T>> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const closed = new Promise<AwaitedOutcome<T>>((resolve) => {
    const close = (cause: 'deadline' | 'withdrawn') => resolve({ kind: 'closed', cause });
    timer = setTimeout(close, Math.min(deadlineInMs, maxTimerMs), 'deadline');
    onAbort = () => close('withdrawn');
    if (signal.aborted) close('withdrawn');
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  const decided = decision.then(
    (value): AwaitedOutcome<T> => ({ kind: 'decided', decision: value }),
    (): AwaitedOutcome<T> => ({ kind: 'closed', cause: 'failed' }),
  );
  try {
    return await Promise.race([closed, decided]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
