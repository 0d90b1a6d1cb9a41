import { uuidv7 } from 'uuidv7';
import { z } from 'zod';

/** The inbox name of a team's lead; no teammate may have it (WR-1). */
export const leadInboxName = 'team-lead';

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const nameRule = 'must be 1 to 64 characters of a-z, 0-9, ".", "_" or "-", and start with a letter or digit';

/** The name of a team (WR-1). */
export const TeamName = z.string().regex(namePattern, nameRule);
export type TeamName = z.infer<typeof TeamName>;

/** The name of a teammate within its team; never the lead's (WR-1). */
export const TeammateName = z
  .string()
  .regex(namePattern, nameRule)
  .refine((name) => name !== leadInboxName, `"${leadInboxName}" is the lead's inbox and nobody else's`);
export type TeammateName = z.infer<typeof TeammateName>;

/** Whoever owns an inbox: a teammate, or the lead. */
export const AgentName = z.string().regex(namePattern, nameRule);
export type AgentName = z.infer<typeof AgentName>;

const lineRule = 'must be one line of printable ASCII without white space, and not "." or ".."';
const printableLine = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, lineRule)
    .refine((text) => text !== '.' && text !== '..', lineRule);

/**
 * Names one request for approval; unique in its team and the idempotency key of its submission (WR-2).
 * Native ones are `plan_approval-<uuidv7>@<teammate>@<team>`; any printable line of at most 256 is taken.
 */
export const RequestId = printableLine(256);
export type RequestId = z.infer<typeof RequestId>;

/** Names one session of a teammate: a printable line of at most 128 characters. */
export const SessionId = printableLine(128);
export type SessionId = z.infer<typeof SessionId>;

/** Who acts, as the token says: a printable line such as `local:ada` or `teammate:worker`. */
export const Principal = printableLine(128);
export type Principal = z.infer<typeof Principal>;

/** What a native request ID says of itself. */
export interface NativeRequestId {
  teammate: string;
  team: string;
  /** When its maker says it was made, in milliseconds since the epoch. */
  madeAtMs: number;
}

const nativePattern =
  /^plan_approval-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}@([a-z0-9][a-z0-9._-]{0,63})@([a-z0-9][a-z0-9._-]{0,63})$/;

/** Makes a new native request ID (WR-2). */
export function newRequestId(teammate: TeammateName, team: TeamName): RequestId {
  return `plan_approval-${uuidv7()}@${teammate}@${team}`;
}

/** Takes a native request ID apart; undefined for a foreign client's (WR-2). */
export function parseNativeRequestId(requestId: RequestId): NativeRequestId | undefined {
  const match = nativePattern.exec(requestId);
  if (!match) return undefined;
  const [, high = '', low = '', teammate = '', team = ''] = match;
  return { teammate, team, madeAtMs: Number.parseInt(high + low, 16) };
}

/** Makes a new session ID: a UUID of version 7. */
export function newSessionId(): SessionId {
  return uuidv7();
}
