/**
 * The store's time as `TIME` answers it, in milliseconds since the epoch.
 * @throws TypeError when it is anything but a list of two numbers
 */
export function storeTimeMs(time: unknown): number {
  if (!Array.isArray(time)) throw new TypeError('TIME did not answer a list');
  const [seconds, micros]: unknown[] = time;
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
