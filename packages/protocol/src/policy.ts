import { z } from 'zod';
import { type Digest, digestOfList } from './digest.ts';
import { WorkingMode } from './permission-mode.ts';
import { defaultNotAfterMs } from './request.ts';

/** What a team allows its leads to grant (TM-31). Today: the ceiling and how long an approval may wait for its work. */
export const Policy = z.strictObject({
  /** No decision grants a mode above this one (TM-30). */
  maxPermissionMode: WorkingMode.default('bypassPermissions'),
  /** How long after the decision work may begin (WR-28). */
  notAfterMs: z.number().int().min(1000).default(defaultNotAfterMs),
});
export type Policy = z.infer<typeof Policy>;

/** The digest that requests and decisions name a policy by. */
export function policyDigest({ maxPermissionMode, notAfterMs }: Policy): Digest {
  return digestOfList(['placet-policy', 1, maxPermissionMode, notAfterMs]);
}
