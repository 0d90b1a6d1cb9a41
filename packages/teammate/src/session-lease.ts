import { setTimeout as pause } from 'node:timers/promises';
import type { MailboxPort, SessionLease } from '@placet/mailbox';
import { isPlacetError, type Log } from '@placet/protocol';

/** A lease that is being renewed. */
export interface KeptLease {
  readonly lease: SessionLease;
  /** Aborts when the lease is lost or can no longer be known to be held. */
  readonly lost: AbortSignal;
  /** Stops renewing; the lease itself stays until it is released or lapses. */
  stop(): Promise<void>;
}

/** How a lease is kept. */
export interface KeepLeaseOptions {
  port: MailboxPort;
  lease: SessionLease;
  leaseMs: number;
  log: Log;
  /** Milliseconds of a clock that is never set. */
  monotonicMs?: () => number;
}

/**
 * Renews a lease three times within its length. It counts as lost when the store says so, and also when the store has
 * not answered for so long that it may have lapsed: another worker may hold the session then (I6).
 */
export function keepLease(options: KeepLeaseOptions): KeptLease {
  const lost = new AbortController();
  const stopping = new AbortController();
  const renewing = renewUntilStopped(options, lost, stopping.signal);
  return {
    lease: options.lease,
    lost: lost.signal,
    stop: async () => {
      stopping.abort();
      await renewing;
    },
  };
}

async function renewUntilStopped(options: KeepLeaseOptions, lost: AbortController, stopping: AbortSignal) {
  const { port, lease, leaseMs, log, monotonicMs = () => performance.now() } = options;
  const everyMs = leaseMs / 3;
  let heldUntilMs = monotonicMs() + leaseMs;
  let waitMs = everyMs;
  for (;;) {
    await pause(waitMs, undefined, { signal: stopping }).catch(() => undefined); // an abort is the end, seen below
    if (stopping.aborted) return;
    // Counted from before it was sent: the store's clock started no later than that.
    const sentAtMs = monotonicMs();
    const renewed = await renewOnce(port, lease, leaseMs, log);
    if (renewed === 'renewed') heldUntilMs = sentAtMs + leaseMs;
    waitMs = renewed === 'renewed' ? everyMs : Math.min(everyMs, 250);
    if (renewed === 'lost' || (renewed === 'unknown' && monotonicMs() + waitMs >= heldUntilMs)) {
      log.warn({ sessionId: lease.sessionId, epoch: lease.epoch }, 'the lease of the session is lost');
      lost.abort(new Error('the lease of the session is lost'));
      return;
    }
  }
}

async function renewOnce(
  port: MailboxPort,
  lease: SessionLease,
  leaseMs: number,
  log: Log,
): Promise<'renewed' | 'lost' | 'unknown'> {
  try {
    return (await port.renewSession(lease, leaseMs)) ? 'renewed' : 'lost';
  } catch (thrown) {
    if (!isPlacetError(thrown, 'store_unavailable', 'not_durable', 'service_unreachable'))
      log.error({ err: thrown, sessionId: lease.sessionId }, 'a lease cannot be renewed');
    return 'unknown';
  }
}
