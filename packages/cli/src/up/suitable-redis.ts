import { connectRedis } from '@placet/mailbox';

/**
 * Waits until a Redis answers and is one that keeps the promises (TM-14); `onWait` is told when it is not there at
 * once.
 * @throws PlacetError `redis_unsuitable` saying how to mend it
 * @throws the signal's reason when that aborts
 */
export async function whenSuitable(
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
  onWait: () => void,
): Promise<void> {
  const handle = connectRedis({ url, name: 'placet-check', timeoutMs });
  const late = setTimeout(onWait, timeoutMs);
  try {
    await handle.ready(signal);
  } finally {
    clearTimeout(late);
    await handle.close();
  }
}
