import type { UsageAmount, UsageSum } from '@placet/protocol';

const fields = ['inputTokens', 'outputTokens', 'costNanoUsd'] as const;
const nanoPerUsd = 1_000_000_000;

/** An amount in whole numbers: sums of fractions of a dollar drift. */
export function sumOf({ inputTokens, outputTokens, costUsd, notional }: UsageAmount): UsageSum {
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(costUsd !== undefined && { costNanoUsd: capped(Math.round(costUsd * nanoPerUsd)) }),
    ...(notional && { notional }),
  };
}

/** A sum as it is told; what nobody reported is absent, and not nought. */
export function amountOf({ inputTokens, outputTokens, costNanoUsd, notional }: UsageSum): UsageAmount {
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(costNanoUsd !== undefined && { costUsd: costNanoUsd / nanoPerUsd }),
    ...(notional && { notional }),
  };
}

/** Field by field the higher of the two; a price that was ever notional stays so. */
export function highest(one: UsageSum, other: UsageSum): UsageSum {
  return combine(one, other, (a, b) => Math.max(a, b));
}

/** Two sums together, neither of which is counted in the other. */
export function addGrowth(one: UsageSum, other: UsageSum): UsageSum {
  return combine(one, other, (a, b) => capped(a + b));
}

/** By how much `after` is more than `before`, and what it reports for the first time; undefined for by nothing. */
export function growthOf(before: UsageSum, after: UsageSum): UsageSum | undefined {
  const growth: UsageSum = {};
  for (const field of fields) {
    const now = after[field];
    if (now !== undefined && now !== before[field]) growth[field] = now - (before[field] ?? 0);
  }
  if (after.notional && (!before.notional || growth.costNanoUsd !== undefined)) growth.notional = true;
  return Object.keys(growth).length > 0 ? growth : undefined;
}

function combine(one: UsageSum, other: UsageSum, of: (a: number, b: number) => number): UsageSum {
  const combined: UsageSum = {};
  for (const field of fields)
    if (one[field] !== undefined || other[field] !== undefined)
      combined[field] = of(one[field] ?? 0, other[field] ?? 0);
  if (one.notional || other.notional) combined.notional = true;
  return combined;
}

function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
