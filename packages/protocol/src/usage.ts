import { z } from 'zod';

/** The phases that usage is told apart by (PM-81). */
export const UsagePhase = z.enum(['planning', 'implementing']);
export type UsagePhase = z.infer<typeof UsagePhase>;

/** What was used; `costUsd` only where the runtime reports it. */
export const UsageAmount = z.looseObject({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
  /** Set where the price is notional, as under a subscription. */
  notional: z.boolean().optional(),
});
export type UsageAmount = z.infer<typeof UsageAmount>;

/** What each phase has used so far; a phase that has not begun is absent. */
export const UsageByPhase = z.looseObject({
  planning: UsageAmount.optional(),
  implementing: UsageAmount.optional(),
});
export type UsageByPhase = z.infer<typeof UsageByPhase>;

/** So many turns of a session are remembered, so that a report of one that comes again is not counted again. */
export const maxRememberedTurns = 32;

/** Names one turn within its session. */
export const TurnId = z.string().min(1).max(128);
export type TurnId = z.infer<typeof TurnId>;

const amount = z.number().int().nonnegative();

/** Sums that can be added to without loss: the cost in billionths of a dollar. */
export const UsageSum = z.strictObject({
  inputTokens: amount.optional(),
  outputTokens: amount.optional(),
  costNanoUsd: amount.optional(),
  notional: z.literal(true).optional(),
});
export type UsageSum = z.infer<typeof UsageSum>;

/** A session's usage as it is kept over restarts. */
export const UsageSnapshot = z.strictObject({
  version: z.literal(1),
  phases: z.strictObject({ planning: UsageSum, implementing: UsageSum }),
  /** The turns reported last, oldest first, with what each has used in all. */
  turns: z.array(z.tuple([TurnId, UsageSum])).max(maxRememberedTurns),
});
export type UsageSnapshot = z.infer<typeof UsageSnapshot>;
