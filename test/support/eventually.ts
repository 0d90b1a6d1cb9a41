/** How long a condition may take, and how often it is looked at, in milliseconds. */
export interface Patience {
  withinMs?: number;
  everyMs?: number;
  /** Said in the error when the time is over. */
  what?: string;
}

/**
 * Waits until `condition` answers something other than false or undefined, and answers that. A condition that throws
 * has not come true yet. Tests wait with this and never sleep for a fixed time.
 * @throws Error after `withinMs` (10 s), with what the condition last threw as its cause
 */
export async function eventually<Value>(
  condition: () => Value | Promise<Value>,
  { withinMs = 10_000, everyMs = 10, what = 'the condition' }: Patience = {},
): Promise<Exclude<Value, false | undefined>> {
  const giveUpAt = performance.now() + withinMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      // the comparison is the proof: neither of the two is left
      if (value !== false && value !== undefined) return value as Exclude<Value, false | undefined>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= giveUpAt)
      throw new Error(`${what} did not come true within ${withinMs} ms`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
