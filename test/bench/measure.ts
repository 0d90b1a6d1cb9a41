import { performance } from 'node:perf_hooks';

/** Runs `work(0 … count-1)` with at most `inFlight` at a time; answers how many ended in a second. */
export async function throughput(
  count: number,
  inFlight: number,
  work: (index: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const startedAtMs = performance.now();
  const lanes = Array.from({ length: inFlight }, async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  });
  await Promise.all(lanes);
  return (count * 1000) / (performance.now() - startedAtMs);
}

/** The value below which a fraction of the samples lies. */
export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const place = Math.min(sorted.length - 1, Math.floor(sorted.length * fraction));
  return sorted[place] ?? Number.NaN;
}

/** The middle value. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}
