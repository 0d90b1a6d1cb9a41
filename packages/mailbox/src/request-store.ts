import type {
  Decision,
  Digest,
  PermissionMode,
  RequestId,
  RequestPage,
  RequestRecord,
  RequestState,
  RequestWithPlan,
  Submission,
} from '@placet/protocol';
import { PlacetError } from '@placet/protocol';
import type { Redis } from 'ioredis';
import type { CommitResult, DecisionStore, ReserveResult } from './decide-request.ts';
import type { LeaseResult, Settlement, SubmitResult } from './mailbox-port.ts';

/** What the stores of this package share. */
export interface StoreContext {
  redis: Redis;
  /** How long what is settled is kept, in milliseconds (TM-42). */
  retentionMs: number;
  /** How long a submission or withdrawal waits for a decision that is being made, in milliseconds. */
  rivalWaitMs: number;
  /** Writes the team down before its first key (ST-1). */
  registerTeam(team: string): Promise<void>;
}

/** A submission with what the caller established about its sender. */
export interface SubmitCommand {
  team: string;
  teammate: string;
  /** The principal that owns the teammate. */
  owner: string;
  submission: Submission;
  /** The digest of the policy in force (TM-31). */
  policyDigest: Digest;
  /** The proof of ownership as signed, kept for the lead that decides (IN-6). */
  ownerProof?: string | undefined;
  /** The epoch of the lease that the sender holds; with it, a sender that lost its session is refused. */
  epoch?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** What to list (WR-33). */
export interface ListQuery {
  state?: RequestState | undefined;
  teammate?: string | undefined;
  /** Where to go on, as a former page said. */
  cursor?: string | undefined;
  limit: number;
}

/** Names a request of a teammate. */
export interface RequestName {
  team: string;
  teammate: string;
  requestId: RequestId;
}

/** What a decision reserves: see `DecisionStore`. `votesSeen` is 0 unless set: one vote decides today. */
export interface ReserveCommand extends RequestName {
  planDigest: Digest;
  /** Unique for each attempt. */
  token: string;
  votesSeen?: number | undefined;
}

/** A signed decision, to be written under its reservation. */
export interface CommitCommand extends RequestName {
  sessionId: string;
  token: string;
  decision: Decision;
  jti: string;
  /** What `reserve` answered, in milliseconds since the epoch. */
  decidedAtMs: number;
  /** Until when work may begin, in milliseconds since the epoch (WR-28). */
  notAfterMs: number;
  editedPlan?: { digest: Digest; bytes: Uint8Array } | undefined;
}

/** Whose background duty a sweep runs under: its steps are refused once another process has the duty (ST-7). */
export interface DutyFence {
  duty: string;
  epoch: number;
}

/** The requests of all teams (WR-20 to WR-28): every change is one atomic step in Redis. */
export class RequestStore implements DecisionStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /**
   * Stores a request, or answers the one that stands (WR-23, WR-25, WR-26).
   * @throws PlacetError `plan_required`, `payload_too_large`, `validation_failed`, `request_conflict`, `epoch_stale`
   */
  submit(_command: SubmitCommand): Promise<SubmitResult> {
    return this.#todo();
  }

  /** The record; undefined when there is none. Ends it first if its deadline has passed (WR-24). */
  get(_team: string, _requestId: RequestId): Promise<RequestRecord | undefined> {
    return this.#todo();
  }

  /** The record with the plan as it was submitted. */
  getWithPlan(_team: string, _requestId: RequestId): Promise<RequestWithPlan | undefined> {
    return this.#todo();
  }

  /** A plan's exact bytes (submitted or as approved); undefined when no request refers to it. */
  planBytes(_team: string, _digest: Digest): Promise<Uint8Array | undefined> {
    return this.#todo();
  }

  /** The proof of who owns a teammate, as it was last sent; to be verified before it is believed (IN-6). */
  ownerProof(_team: string, _teammate: string): Promise<string | undefined> {
    return this.#todo();
  }

  /** A page of requests, newest first (WR-33). @throws PlacetError `validation_failed` for a cursor that is none */
  list(_team: string, _query: ListQuery): Promise<RequestPage> {
    return this.#todo();
  }

  reserve(_command: ReserveCommand): Promise<ReserveResult> {
    return this.#todo();
  }

  commit(_command: CommitCommand): Promise<CommitResult> {
    return this.#todo();
  }

  /** @throws PlacetError `not_found` (also for another teammate's request), `already_decided` */
  withdraw(_name: RequestName, _signal?: AbortSignal): Promise<RequestRecord> {
    return this.#todo();
  }

  /** Ends a request whose deadline has passed; `waiting` while a decision is being made. */
  expire(
    _team: string,
    _requestId: RequestId,
  ): Promise<'expired' | 'ended' | 'early' | 'waiting' | 'absent'> {
    return this.#todo();
  }

  /** Ends what is past its deadline, at most `limit`; answers how many it ended. */
  expireDue(_team: string, _limit: number, _fence?: DutyFence): Promise<number> {
    return this.#todo();
  }

  /** @throws PlacetError as `MailboxPort.claim` does */
  claim(_name: RequestName, _holder: string, _leaseMs: number): Promise<LeaseResult> {
    return this.#todo();
  }

  markDelivered(_name: RequestName): Promise<RequestRecord> {
    return this.#todo();
  }

  /** @throws PlacetError `epoch_stale` */
  markApplied(_name: RequestName, _epoch: number, _effectiveMode: PermissionMode): Promise<RequestRecord> {
    return this.#todo();
  }

  /** @throws PlacetError `epoch_stale` */
  settle(_name: RequestName, _settlement: Settlement): Promise<RequestRecord> {
    return this.#todo();
  }

  /** Wakes again whatever is owed a step, at most `limit`; answers how many it woke (TM-5). */
  wakeDue(_team: string, _limit: number, _fence?: DutyFence): Promise<number> {
    return this.#todo();
  }

  /** Deletes what was settled longer ago than the retention, at most `limit`; answers how many (TM-42, ST-9). */
  purge(_team: string, _limit: number, _fence?: DutyFence): Promise<number> {
    return this.#todo();
  }

  #todo(): never {
    throw new PlacetError('internal', `not built yet (${this.#context.retentionMs})`);
  }
}
