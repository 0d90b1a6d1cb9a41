import { z } from 'zod';

interface ErrorEntry {
  /** The HTTP status that carries it. */
  status: number;
  /** The exit code of a command that ends with it (WR-40). */
  exitCode: number;
  /** Whether the same call may succeed later, unchanged. */
  retryable: boolean;
  title: string;
  /** What it means and what to do, in a line; the reference page is made from it. */
  doc: string;
}

/** Every error that Placet can answer (WR-30): the one catalogue. */
export const errorCatalogue = {
  validation_failed: {
    status: 400,
    exitCode: 2,
    retryable: false,
    title: 'The request is not valid',
    doc: 'Each fault is listed with its path; nothing was stored. Mend it and send it again.',
  },
  unauthenticated: {
    status: 401,
    exitCode: 7,
    retryable: false,
    title: 'No valid token',
    doc: 'The token is missing, malformed, expired or revoked. Make one with `placet token create`.',
  },
  forbidden: {
    status: 403,
    exitCode: 7,
    retryable: false,
    title: 'Not allowed',
    doc: 'The token is good, but its role, team or teammate does not allow this.',
  },
  self_approval_forbidden: {
    status: 403,
    exitCode: 7,
    retryable: false,
    title: 'Nobody decides their own plan',
    doc: 'The principal owns the teammate that asked, or the owner cannot be established. Another lead must decide.',
  },
  approval_required: {
    status: 403,
    exitCode: 7,
    retryable: false,
    title: 'Only an approved plan ends planning here',
    doc: 'The session requires plan mode; it leaves it by a verified decision and by nothing else.',
  },
  not_found: {
    status: 404,
    exitCode: 1,
    retryable: false,
    title: 'Not found',
    doc: 'There is nothing of that name in this team, or it is not yours to see.',
  },
  already_decided: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'The request is already decided',
    doc: '`current` is the decision that stands; it does not change.',
  },
  stale_plan: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'The plan is not the one that was read',
    doc: 'The digest sent is not the digest of the request. Read the plan again, then decide.',
  },
  request_conflict: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'The request ID stands for something else',
    doc: 'A request of this ID exists with other content. Submit under a new ID.',
  },
  superseded: {
    status: 409,
    exitCode: 6,
    retryable: false,
    title: 'The request was superseded',
    doc: 'A newer plan of the same session took its place; `current` names it.',
  },
  session_busy: {
    status: 409,
    exitCode: 1,
    retryable: true,
    title: 'The session is held by another worker',
    doc: 'Another process works on this session; it is free when that one ends or its lease lapses.',
  },
  epoch_stale: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'The work was taken over',
    doc: 'Another worker claimed the work under a later epoch; what this one did is void.',
  },
  not_approved: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'No approval stands',
    doc: 'Work can be claimed only while an approval of this request stands.',
  },
  not_planning: {
    status: 409,
    exitCode: 1,
    retryable: false,
    title: 'The session is not planning',
    doc: 'There is no plan mode to act on, or it was left in the meantime; enter plan mode first.',
  },
  expired_unapplied: {
    status: 409,
    exitCode: 4,
    retryable: false,
    title: 'The approval has lapsed',
    doc: 'It was not claimed before its notAfter and is void; submit the plan again.',
  },
  payload_too_large: {
    status: 413,
    exitCode: 2,
    retryable: false,
    title: 'Too large',
    doc: 'Bodies hold at most 4 MiB, plans 1 MiB, images 5 MiB.',
  },
  plan_too_large_to_approve: {
    status: 422,
    exitCode: 1,
    retryable: false,
    title: 'The plan is too large to be shown in full',
    doc: 'Plans over 200,000 characters can be rejected but not approved. Ask for a shorter one.',
  },
  mode_not_allowed: {
    status: 422,
    exitCode: 1,
    retryable: false,
    title: 'The mode is above the ceiling',
    doc: 'The granted permission mode exceeds the ceiling of the team or of the job. Grant a lower one.',
  },
  feedback_required: {
    status: 422,
    exitCode: 2,
    retryable: false,
    title: 'A rejection needs a reason',
    doc: 'Give feedback text or an image, so that the plan can be revised.',
  },
  plan_required: {
    status: 422,
    exitCode: 1,
    retryable: false,
    title: 'There is no plan',
    doc: 'Write the plan first; a teammate cannot submit an empty one.',
  },
  rate_limited: {
    status: 429,
    exitCode: 1,
    retryable: true,
    title: 'Too many requests',
    doc: 'Wait for the time that Retry-After says.',
  },
  store_unavailable: {
    status: 503,
    exitCode: 8,
    retryable: true,
    title: 'The store is unavailable',
    doc: 'Redis did not answer in time; whether the last write took place is not known. Repeat the same call.',
  },
  not_durable: {
    status: 503,
    exitCode: 8,
    retryable: true,
    title: 'Too few replicas acknowledged',
    doc: 'The write may have happened but is not as durable as configured. Repeat the same call.',
  },
  too_new: {
    status: 503,
    exitCode: 1,
    retryable: false,
    title: 'Written by a newer Placet',
    doc: 'The record has a schema version this process does not know. Upgrade it.',
  },
  service_unreachable: {
    status: 503,
    exitCode: 8,
    retryable: true,
    title: 'The lead service cannot be reached',
    doc: 'Start it with `placet up`, or say where it is with --url or PLACET_URL.',
  },
  usage: {
    status: 400,
    exitCode: 2,
    retryable: false,
    title: 'The command is not used right',
    doc: 'The message says which argument; --help shows an example.',
  },
  config_invalid: {
    status: 500,
    exitCode: 2,
    retryable: false,
    title: 'A setting is not valid',
    doc: 'The message names the setting and where it came from.',
  },
  decision_invalid: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'The decision is not valid',
    doc: 'Signature or binding does not hold; the session is still planning and the lead is alarmed.',
  },
  plan_mode_blocked: {
    status: 403,
    exitCode: 1,
    retryable: false,
    title: 'Refused while planning',
    doc: 'The session is in plan mode and the call is not plan-safe. Submit the plan and wait for the decision.',
  },
  plan_mode_violation: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'The plan phase changed files',
    doc: 'An agent wrote to its tree while planning; the tree was thrown away and nothing was submitted.',
  },
  mode_mismatch: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'The mode in effect is stronger than granted',
    doc: 'The runtime is in a mode the decision does not allow; the gate is closed again.',
  },
  workspace_missing: {
    status: 500,
    exitCode: 1,
    retryable: true,
    title: 'The workspace is not on this machine',
    doc: 'Another process of this teammate has it; the job is delayed.',
  },
  plan_not_submitted: {
    status: 503,
    exitCode: 8,
    retryable: true,
    title: 'Plan not submitted',
    doc: 'The store did not take the plan. The plan file stays; submission is repeated under the same ID.',
  },
  agent_failed: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'The agent failed',
    doc: 'The agent ended with an error; its last lines are in the log.',
  },
  redis_unsuitable: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'This Redis cannot be used',
    doc: 'Version, persistence or eviction policy does not keep the promises; `placet doctor` says how to mend it.',
  },
  data_in_use: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'The data folder is in use',
    doc: 'Another Placet runs on this folder. Stop it, or use another --data.',
  },
  internal: {
    status: 500,
    exitCode: 1,
    retryable: false,
    title: 'Something is broken here',
    doc: 'A fault of Placet itself; the log has it under the same request.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** A code of {@link errorCatalogue}. */
export type ErrorCode = keyof typeof errorCatalogue;

const errorCodes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]; // Object.keys of the literal above: exactly its keys, and it has some

/** A code of the catalogue, as read from the wire. */
export const ErrorCode = z.enum(errorCodes);
