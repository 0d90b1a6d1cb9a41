import { z } from 'zod';

/**
 * A rule that lets calls run without a question, as hosts write it: `Bash(npm test)`, `Edit`. `source` names where it
 * is from, such as a settings file or the session, and so where it goes back to (PM-5).
 */
export const AllowRule = z.strictObject({
  source: z.string().min(1).max(512),
  rule: z.string().min(1).max(4096),
});
export type AllowRule = z.infer<typeof AllowRule>;

/** A rule that auto semantics took out (PM-5); `at` is its place among all rules of its source, from 0. */
export const StrippedRule = AllowRule.extend({ at: z.number().int().nonnegative() });
export type StrippedRule = z.infer<typeof StrippedRule>;
