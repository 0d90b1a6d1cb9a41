import { PlacetError } from '@placet/protocol';
import type { RedisOptions } from 'ioredis';

/**
 * Nothing waits for a Redis that is away, and nothing is sent twice. With autoResend off alone, ioredis forgets the
 * commands in flight when a connection closes and never settles them; no retries makes it reject them at once.
 */
export const failFast = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const satisfies RedisOptions;

/** How long to wait before an attempt to connect, in milliseconds: at most a second, and never all at the same time. */
export function retryDelayMs(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 10), 1000) * (0.5 + Math.random() / 2);
}

/** What an error says that waiting does not mend: Redis knows us, and does not let us in. */
export function refusalOf(error: Error): PlacetError | undefined {
  if (!/^(WRONGPASS|NOAUTH|NOPERM)/.test(error.message)) return undefined;
  return new PlacetError('redis_unsuitable', `Redis refuses us: ${error.message}. Check the password`);
}
