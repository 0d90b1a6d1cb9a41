/** Whether the fault suites run with the full numbers; the normal run is for every change. */
const isFull = process.env.PLACET_TEST_SCALE === 'full';

/** How many of something a suite runs: the first number in the normal run, the second with PLACET_TEST_SCALE=full. */
export function atScale(normal: number, full: number): number {
  return isFull ? full : normal;
}

/** How long one test may take, in milliseconds, by the same rule. */
export const faultTestTimeoutMs = atScale(300_000, 30 * 60_000);

/** Prints what a suite measured, where its readers see it. */
export function reportMeasured(line: string): void {
  process.stdout.write(`placet: measured: ${line}\n`);
}
