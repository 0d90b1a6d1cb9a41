import { z } from 'zod';
import { Digest } from './digest.ts';
import { RequestId } from './ids.ts';
import { WorkingMode } from './permission-mode.ts';
import { StrippedRule } from './permission-rules.ts';

/**
 * What a session may do (PM-1): a working mode, or planning together with the mode to go back to. Planning without
 * such a mode, or a working mode that has one, does not exist.
 */
export const PermissionContext = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('plan'), prePlanMode: WorkingMode }),
  ...WorkingMode.options.map((mode) => z.strictObject({ mode: z.literal(mode) })),
]);
export type PermissionContext = z.infer<typeof PermissionContext>;

/** The request that a session waits for: what its decision must be about. */
export const OpenRequest = z.strictObject({
  requestId: RequestId,
  planDigest: Digest,
  revision: z.number().int().positive(),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

/** The approval that a session works under; one that was given at the session itself has no request ID. */
export const StandingApproval = z.strictObject({ requestId: RequestId.optional(), planDigest: Digest });
export type StandingApproval = z.infer<typeof StandingApproval>;

/** A team session's posture, as it stands in its record and comes back after a restart (PM-9). */
export const Posture = z.object({
  context: PermissionContext,
  open: OpenRequest.optional(),
  approval: StandingApproval.optional(),
  strippedRules: z.array(StrippedRule).default([]),
  /** The number of the last event (PM-78); the next one has the number after it. */
  seq: z.number().int().nonnegative().default(0),
});
export type Posture = z.infer<typeof Posture>;
