import type { Decision, Digest, RequestRecord } from '@placet/protocol';

/** What a reservation names (WR-20). */
export interface ReserveCommand {
  team: string;
  teammate: string;
  requestId: string;
  /** The digest of the plan that the decider read. */
  planDigest: Digest;
  /** Made anew by each caller for each attempt. */
  token: string;
}

/** What came of reserving a request for a decision. */
export type ReserveResult =
  /** Held for 5 s under the token; `nowMs` is the store's time and becomes `decidedAt`. */
  | { kind: 'reserved'; nowMs: number }
  /** Not pending any more, or timed out just now. */
  | { kind: 'gone' }
  /** The plan is not the one that was read. */
  | { kind: 'stale' }
  /** A rival holds it for at most `freeInMs` more. */
  | { kind: 'busy'; freeInMs: number }
  | { kind: 'absent' };

/** A decision to write under a reservation. */
export interface CommitCommand {
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
}

/** What came of committing a decision. */
export type CommitResult =
  | { kind: 'committed' }
  /** The reservation lapsed or the request ended; nothing was written. */
  | { kind: 'lapsed' };

/** What deciding needs of the request store. Each call throws `store_unavailable` when it is not answered in time. */
export interface DecisionStore {
  get(team: string, requestId: string): Promise<RequestRecord | undefined>;
  reserve(command: ReserveCommand): Promise<ReserveResult>;
  commit(command: CommitCommand): Promise<CommitResult>;
  /** Waits until a decision that was read is as durable as one just made (TM-46). @throws PlacetError `not_durable` */
  confirm(): Promise<void>;
}
