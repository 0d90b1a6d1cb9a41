import {
  contentDigest,
  type Decision,
  DecisionClaims,
  decisionType,
  fromTimestamp,
  type Scope,
} from '@placet/protocol';
import { nativeDigestOf } from '../native-digest.ts';
import { decisionContradiction } from './decision-signing.ts';
import type { KeySource } from './key-source.ts';
import { readSigned, type SignatureFault } from './signed-object.ts';
import {
  type DecisionJournal,
  type InvalidDecision,
  type InvalidReason,
  ownRequestOf,
  type ValidDecision,
  type VerifyInput,
} from './verification.ts';

/** Verifies decisions as IN-2 says. */
export class DecisionVerifier {
  readonly #keys: KeySource;
  readonly #journal: DecisionJournal | undefined;

  /** Without a journal the record decides what is a replay (TM-17). */
  constructor({ keys, journal }: { keys: KeySource; journal?: DecisionJournal | undefined }) {
    this.#keys = keys;
    this.#journal = journal;
  }

  /**
   * Whether the record's decision is genuine and this request's own. A rejection verifies as a rejection, so that its
   * feedback can be trusted; {@link requireApproved} says whether the gate may open.
   */
  async verify(input: VerifyInput): Promise<ValidDecision | InvalidDecision> {
    const { decision } = input.record;
    if (!decision) return invalid('no_decision', 'the record holds no decision');
    const signed = await readSigned(decision.signature, {
      typ: decisionType,
      schema: DecisionClaims,
      keys: this.#keys,
    });
    if (signed.kind === 'invalid') return invalid(signed.reason, signatureFaults[signed.reason]);
    const { claims } = signed;
    return (
      findFault(input, decision, claims) ??
      (await this.#findReplay(input, claims)) ?? {
        kind: 'valid',
        decision: signedPart(decision),
        claims,
        jti: claims.jti,
      }
    );
  }

  async #findReplay(
    { own, claimedBefore }: VerifyInput,
    { jti }: DecisionClaims,
  ): Promise<InvalidDecision | undefined> {
    if (!this.#journal) return undefined;
    const last = await this.#journal.lastIntent(own.sessionId);
    if (last !== undefined && last !== own.requestId)
      return invalid('not_last_intent', 'this teammate has submitted another request since');
    const used = await this.#journal.usedAs(jti);
    // Work that was begun goes on under the same decision after a crash (TM-8); work that ended never does.
    if (used === 'settled' || (used === 'applied' && !claimedBefore))
      return invalid('replayed', `work under this decision is already ${used}`);
    return undefined;
  }
}

const signatureFaults = {
  malformed: 'the signature is not a compact JWS in its one spelling',
  header: `the header is not exactly alg, kid and typ of a ${decisionType}`,
  key_unknown: 'the key is not pinned, or is revoked',
  keys_unreachable: "the lead's keys could not be read for too long",
  signature: 'the signature does not verify',
  claims: 'the claims are not those of a decision',
} as const satisfies Record<SignatureFault, string>;

const retryableReasons: readonly InvalidReason[] = ['keys_unreachable', 'key_unknown'];

function invalid(reason: InvalidReason, detail: string): InvalidDecision {
  return { kind: 'invalid', reason, detail, retryable: retryableReasons.includes(reason) };
}

function findFault(
  input: VerifyInput,
  decision: Decision,
  claims: DecisionClaims,
): InvalidDecision | undefined {
  const contradiction = decisionContradiction(claims);
  if (contradiction) return invalid('contradiction', contradiction);
  const foreign =
    differingField({ ...input.own }, claims) ?? differingField({ ...input.own }, ownRequestOf(input.record));
  if (foreign) return invalid('other_request', `the decision or the record is of another ${foreign}`);
  const shown =
    input.record.state === claims.outcome
      ? differingField(signedFields(claims), shownFields(decision))
      : 'state';
  if (shown) return invalid('shown_differs', `the record's ${shown} is not the one that was signed`);
  if (contentDigest(decision) !== claims.contentDigest)
    return invalid('content_differs', 'feedback, images or notices are not those that were signed');
  return findPlanFault(input, claims) ?? findExpiry(input, claims);
}

function findPlanFault({ approvedPlan }: VerifyInput, claims: DecisionClaims): InvalidDecision | undefined {
  if (!approvedPlan && claims.outcome === 'rejected') return undefined;
  if (!approvedPlan) return invalid('plan_differs', 'the plan as approved is not there');
  if (nativeDigestOf(approvedPlan) === claims.approvedPlanDigest) return undefined;
  return invalid('plan_differs', "the plan's bytes are not those that were signed");
}

function findExpiry(
  { nowMs, claimedBefore }: VerifyInput,
  claims: DecisionClaims,
): InvalidDecision | undefined {
  if (claims.outcome !== 'approved' || claimedBefore || nowMs <= fromTimestamp(claims.notAfter))
    return undefined;
  return invalid('expired', `the approval had to be claimed by ${claims.notAfter}`);
}

/** The first field of `expected` that `actual` has another value for. */
function differingField(expected: Record<string, unknown>, actual: object): string | undefined {
  const values = new Map(Object.entries(actual));
  return Object.keys(expected).find((field) => values.get(field) !== expected[field]);
}

function signedFields(claims: DecisionClaims): Record<string, unknown> {
  const { outcome, permissionMode, context, planEdited, approvedPlanDigest, decidedBy, decidedAt } = claims;
  const scope = scopeText(claims.scope);
  return { outcome, permissionMode, context, planEdited, approvedPlanDigest, decidedBy, decidedAt, scope };
}

function shownFields(decision: Decision): Record<string, unknown> {
  const { outcome, context, planEdited, approvedPlanDigest, decidedBy, decidedAt } = decision;
  const permissionMode = decision.permissionMode ?? null;
  const scope = scopeText(decision.scope);
  return { outcome, permissionMode, context, planEdited, approvedPlanDigest, decidedBy, decidedAt, scope };
}

function scopeText(scope: Scope | undefined): string | undefined {
  return scope && JSON.stringify([scope.write, scope.run, scope.tools]);
}

/** The decision without fields that no signature covers. */
function signedPart(decision: Decision): Decision {
  const { outcome, permissionMode, scope, context, feedback, images } = decision;
  const { planEdited, approvedPlanDigest, decidedBy, decidedAt, notices, signature } = decision;
  return {
    outcome,
    ...(permissionMode && { permissionMode }),
    ...(scope && { scope }),
    ...(context && { context }),
    ...(feedback !== undefined && { feedback }),
    ...(images && { images }),
    planEdited,
    approvedPlanDigest,
    decidedBy,
    decidedAt,
    notices,
    signature,
  };
}
