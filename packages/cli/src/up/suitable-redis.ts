import { connectRedis } from '@placet/mailbox';
import type { Config } from '@placet/protocol';

/**
 * Waits until a Redis answers and is one that keeps the promises (TM-14, TM-46); `onWait` is told when it is not there at
 * once.
 * @throws PlacetError `redis_unsuitable` saying how to mend it
 * @throws the signal's reason when that aborts
 */
export async function whenSuitable(
  url: string,
  config: Pick<Config, 'storeTimeoutMs' | 'durability' | 'replicas'>,
  signal: AbortSignal,
  onWait: () => void,
): Promise<void> {
  const { storeTimeoutMs: timeoutMs, durability: profile, replicas } = config;
  const handle = connectRedis({ url, name: 'placet-check', timeoutMs, durability: { profile, replicas } });
  const late = setTimeout(onWait, timeoutMs);
  try {
    await handle.ready(signal);
  } finally {
    clearTimeout(late);
    await handle.close();
  }
}
