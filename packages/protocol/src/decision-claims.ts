import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest } from './digest.ts';
import { Principal, RequestId, SessionId, TeammateName, TeamName } from './ids.ts';
import { PermissionMode, WorkingMode } from './permission-mode.ts';
import { ContextChoice, Scope } from './request.ts';
import { DecisionOutcome } from './request-machine.ts';

/** The `typ` of a signed decision (IN-1); anything else is none. */
export const decisionType = 'placet-decision+jwt';
/** The `typ` of a token (WR-32). */
export const tokenType = 'placet-token+jwt';
/** The `typ` of the proof of who owns a teammate (IN-6). */
export const ownerProofType = 'placet-owner+jwt';
/** The `typ` of what a lead said its own mode is (TM-30, IN-6). */
export const leadModeType = 'placet-lead-mode+jwt';
/** The `typ` of a lead's order that a session enter or leave plan mode (PM-18). */
export const modeOrderType = 'placet-mode-order+jwt';
/** The only signature algorithm there is: Ed25519. */
export const signatureAlgorithm = 'EdDSA';
/** Who issues everything that is signed. */
export const issuer = 'placet';

/** What a signed decision says (IN-1): strict, for an unknown claim could mean something to its maker. */
export const DecisionClaims = z.strictObject({
  v: z.literal(1),
  iss: z.literal(issuer),
  jti: z.string().min(1).max(64),
  requestId: RequestId,
  team: TeamName,
  teammate: TeammateName,
  sessionId: SessionId,
  revision: z.number().int().positive(),
  planDigest: Digest,
  approvedPlanDigest: Digest,
  workspaceDigest: Digest,
  contentDigest: Digest,
  outcome: DecisionOutcome,
  permissionMode: WorkingMode.nullable(),
  scope: Scope.optional(),
  context: ContextChoice,
  planEdited: z.boolean(),
  decidedBy: Principal,
  decidedAt: Timestamp,
  notAfter: Timestamp,
  policyDigest: Digest,
});
export type DecisionClaims = z.infer<typeof DecisionClaims>;

/** What a principal is and may do (WR-32). */
export const Role = z.enum(['lead', 'teammate', 'observer', 'operator', 'poller']);
export type Role = z.infer<typeof Role>;

/** Whether a principal is a person or an agent (TM-33). */
export const PrincipalKind = z.enum(['person', 'agent']);
export type PrincipalKind = z.infer<typeof PrincipalKind>;

/** What a token says (WR-32). `exp` and `iat` are seconds since the epoch, as JWT has them. */
export const TokenClaims = z
  .strictObject({
    v: z.literal(1),
    iss: z.literal(issuer),
    sub: Principal,
    jti: z.string().min(1).max(64),
    iat: z.number().int(),
    exp: z.number().int(),
    role: Role,
    teams: z.array(TeamName).min(1).max(64),
    kind: PrincipalKind,
    /** For teammates: the one name it may act as. */
    teammate: TeammateName.optional(),
    /** For teammates: the principal that owns it. */
    owner: Principal.optional(),
    /** For teammates: {@link OwnerClaims}, signed; not secret, so it may stand in the store. */
    ownerProof: z.string().optional(),
  })
  .refine(
    (claims) =>
      claims.role !== 'teammate' ||
      (claims.teammate && claims.owner && claims.ownerProof && claims.teams.length === 1),
    'a teammate token names one team, one teammate, its owner and the proof of that',
  );
export type TokenClaims = z.infer<typeof TokenClaims>;

/** Says who owns a teammate (IN-6): stands in the store, and is believed for its signature only. */
export const OwnerClaims = z.strictObject({
  v: z.literal(1),
  iss: z.literal(issuer),
  team: TeamName,
  teammate: TeammateName,
  owner: Principal,
  iat: z.number().int(),
});
export type OwnerClaims = z.infer<typeof OwnerClaims>;

/** The mode that a team's lead is in (TM-30): stands in the store, and is believed for its signature only (IN-6). */
export const LeadModeClaims = z.strictObject({
  v: z.literal(1),
  iss: z.literal(issuer),
  team: TeamName,
  mode: PermissionMode,
  by: Principal,
  iat: z.number().int(),
});
export type LeadModeClaims = z.infer<typeof LeadModeClaims>;

/**
 * A person's or lead's order to one session (PM-18). It stands in an inbox, which others can write to, and is followed for its
 * signature only; a session that requires plan mode follows none that leaves it (PM-17).
 */
export const ModeOrderClaims = z.strictObject({
  v: z.literal(1),
  iss: z.literal(issuer),
  team: TeamName,
  teammate: TeammateName,
  sessionId: SessionId,
  mode: PermissionMode,
  /** How often the session had entered plan mode: a session that has entered again follows no older order. */
  planEntries: z.number().int().nonnegative(),
  by: Principal,
  iat: z.number().int(),
});
export type ModeOrderClaims = z.infer<typeof ModeOrderClaims>;

/** A token lives at most this long (WR-32). */
export const maxTokenLifetimeMs = 90 * 24 * 60 * 60 * 1000;
/** What every token starts with, so that scanners for leaked secrets find it. */
export const tokenPrefix = 'plt_';
