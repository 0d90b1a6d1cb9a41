import type {
  ContextChoice,
  Decision,
  DecisionOutcome,
  Digest,
  ImageRef,
  RequestRecord,
  Scope,
  WorkingMode,
} from '@placet/protocol';
import { PlacetError } from '@placet/protocol';
import type { Signer } from './signing/signer.ts';

/** What came of reserving a request for a decision (WR-20). */
export type ReserveResult =
  /** Held for 5 s under the token; `nowMs` is the store's time and becomes `decidedAt`. */
  | { kind: 'reserved'; nowMs: number }
  /** Not pending any more, or just expired. */
  | { kind: 'gone' }
  /** The plan is not the one that was read. */
  | { kind: 'stale' }
  /** A rival holds it for at most `freeInMs` more. */
  | { kind: 'busy'; freeInMs: number }
  | { kind: 'absent' };

/** What came of committing a decision. */
export type CommitResult =
  | { kind: 'committed' }
  /** The reservation lapsed or the request ended; nothing was written. */
  | { kind: 'lapsed' };

/** What a decision needs of the request store. */
export interface DecisionStore {
  get(team: string, requestId: string): Promise<RequestRecord | undefined>;
  reserve(command: {
    team: string;
    teammate: string;
    requestId: string;
    planDigest: Digest;
    token: string;
  }): Promise<ReserveResult>;
  commit(command: {
    team: string;
    teammate: string;
    sessionId: string;
    requestId: string;
    token: string;
    decision: Decision;
    jti: string;
    decidedAtMs: number;
    notAfterMs: number;
    /** The plan as approved, where the lead edited it. */
    editedPlan?: { digest: Digest; bytes: Uint8Array } | undefined;
  }): Promise<CommitResult>;
}

/** What {@link decideRequest} works with. */
export interface DecideDeps {
  requests: DecisionStore;
  signer: Signer;
}

/** A decision as the lead service authenticated it; modes are resolved and ceilings checked before. */
export interface DecideInput {
  team: string;
  /** The request as it was read. */
  record: RequestRecord;
  outcome: DecisionOutcome;
  /** The digest of the plan that the lead read (WR-22). */
  planDigest: Digest;
  /** The mode granted; null unless approved. */
  permissionMode: WorkingMode | null;
  context: ContextChoice;
  feedback?: string | undefined;
  images?: ImageRef[] | undefined;
  scope?: Scope | undefined;
  /** The exact bytes of the plan as approved, when they differ from the stored plan: an edit. */
  approvedPlan?: Uint8Array | undefined;
  decidedBy: string;
  /** How long after the decision work may begin (WR-28), in milliseconds. */
  notAfterMs: number;
  policyDigest: Digest;
  notices: string[];
  signal?: AbortSignal | undefined;
}

/** A decision that stands: made now, or earlier by the same lead in the same words (WR-21). */
export interface DecideResult {
  kind: 'decided' | 'replayed';
  record: RequestRecord;
}

/**
 * Decides a request: reserve, sign in this process, commit (WR-20). Waits for rivals, in this process and in others.
 * @throws PlacetError `not_found`; `already_decided`, `superseded` or `stale_plan` with the decision that stands as
 * `current`; `store_unavailable` when a rival or the store takes too long (what was sent may have happened: repeat it).
 */
export async function decideRequest(_deps: DecideDeps, _input: DecideInput): Promise<DecideResult> {
  throw new PlacetError('internal', 'not built yet');
}
