import type {
  Digest,
  PermissionMode,
  RequestId,
  RequestPage,
  RequestRecord,
  RequestWithPlan,
  SessionId,
  TeammateName,
  TeamName,
} from '@placet/protocol';
import type {
  CommitCommand,
  CommitResult,
  DecisionStore,
  ReserveCommand,
  ReserveResult,
} from './decision-store.ts';
import type { LeaseResult, Settlement, SubmitResult } from './mailbox-port.ts';
import { commitDecision, reserveRequest } from './request-deciding.ts';
import { expireRequest, withdrawRequest } from './request-ending.ts';
import { type ListQuery, listRequests, type PendingLoad, readPendingLoad } from './request-listing.ts';
import { type RequestName, RequestReader } from './request-reader.ts';
import { type SubmitCommand, submitRequest } from './request-submitting.ts';
import { expireOverdue, purgeSettled, wakeSessions } from './request-sweeping.ts';
import { claimWork, markApplied, markDelivered, settleWork } from './request-working.ts';
import type { DutyFence, StoreContext } from './store-context.ts';

/**
 * The requests of all teams (WR-20 to WR-28). Every change is one atomic step in Redis, under Redis' own time, and may
 * be repeated; each method throws `store_unavailable` when Redis does not answer in time.
 */
export class RequestStore implements DecisionStore {
  readonly #context: StoreContext;
  readonly #reader: RequestReader;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#reader = new RequestReader(context);
  }

  /**
   * Stores a request, or answers the one that stands (WR-23, WR-25, WR-26). Ends the session's pending predecessor in
   * the same step; while that is held for a decision, waits.
   * @throws PlacetError `plan_required`, `payload_too_large`, `validation_failed`, `request_conflict`, `epoch_stale`
   */
  submit(command: SubmitCommand): Promise<SubmitResult> {
    return submitRequest(this.#context, this.#reader, command);
  }

  /** The record; undefined when there is none. Ends it first if its deadline has passed (WR-24). */
  get(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined> {
    return this.#reader.get(team, requestId);
  }

  /** The record with the plan as it was submitted. */
  getWithPlan(team: TeamName, requestId: RequestId): Promise<RequestWithPlan | undefined> {
    return this.#reader.getWithPlan(team, requestId);
  }

  /** A plan's exact bytes (submitted or as approved); undefined when no request refers to it. */
  planBytes(team: TeamName, digest: Digest): Promise<Uint8Array | undefined> {
    return this.#reader.planBytes(team, digest);
  }

  /** The proof of who owns a teammate, as it was last sent; to be verified before it is believed (IN-6). */
  ownerProof(team: TeamName, teammate: TeammateName): Promise<string | undefined> {
    return this.#reader.ownerProof(team, teammate);
  }

  /** A page of requests, newest first (WR-33). @throws PlacetError `validation_failed` for a cursor that is none */
  list(team: TeamName, query: ListQuery): Promise<RequestPage> {
    return listRequests(this.#context, this.#reader, team, query);
  }

  /** How many requests are pending and which has waited longest, for metrics; ends none. */
  pendingLoad(team: TeamName): Promise<PendingLoad> {
    return readPendingLoad(this.#context, team);
  }

  /** Holds a pending request for 5 s for a decision that is about to be signed (WR-20). Decides nothing. */
  reserve(command: ReserveCommand): Promise<ReserveResult> {
    return reserveRequest(this.#context, this.#reader, command);
  }

  /**
   * Writes a signed decision under its reservation, with inbox entry, event, outbox entry, audit number and indexes, in
   * one step (WR-20). Send it within 2 s of having sent the reservation. The same decision again answers `committed`.
   */
  commit(command: CommitCommand): Promise<CommitResult> {
    return commitDecision(this.#context, command);
  }

  /** Waits until what was read is as durable as what is written (TM-46). @throws PlacetError `not_durable` */
  confirm(): Promise<void> {
    return this.#context.confirm();
  }

  /**
   * Takes a pending request back; again, for one that was withdrawn. Waits while it is held for a decision.
   * @throws PlacetError `not_found` (also for another teammate's request), `already_decided`
   */
  withdraw(name: RequestName, signal?: AbortSignal): Promise<RequestRecord> {
    return withdrawRequest(this.#context, this.#reader, name, signal);
  }

  /** Ends a request whose deadline has passed; `waiting` while it is held for a decision. */
  async expire(
    team: TeamName,
    requestId: RequestId,
  ): Promise<'expired' | 'ended' | 'early' | 'waiting' | 'absent'> {
    const [teammate] = await this.#reader.teammatesOf(team, [requestId]);
    const parts =
      teammate === undefined ? undefined : await this.#reader.stored({ team, teammate, requestId });
    if (!parts) return 'absent';
    const name = { team, teammate: parts.teammate, requestId, sessionId: parts.request.s };
    const { kind } = await expireRequest(this.#context, name);
    if (kind === 'ended') return 'expired';
    if (kind === 'busy') return 'waiting';
    return kind === 'early' || kind === 'absent' ? kind : 'ended';
  }

  /** Ends what is past its deadline, at most `limit`; answers how many it ended. */
  expireDue(team: TeamName, limit: number, fence?: DutyFence): Promise<number> {
    return expireOverdue(this.#context, this.#reader, team, limit, fence);
  }

  /**
   * Holds the session and claims the work of its latest request (TM-16). Whoever knows the request's `session` saves
   * reading it; a session that is not its own claims nothing.
   * @throws PlacetError `not_found`, `not_approved`, `superseded`, `expired_unapplied`, `already_decided` (settled)
   */
  claim(name: RequestName, holder: string, leaseMs: number, session?: SessionId): Promise<LeaseResult> {
    return claimWork(this.#context, this.#reader, name, { holder, leaseMs, session });
  }

  /** The decision was read and verified (TM-11). @throws PlacetError `not_found`; `not_approved` while it is pending */
  markDelivered(name: RequestName): Promise<RequestRecord> {
    return markDelivered(this.#context, this.#reader, name);
  }

  /** The gate opened in this mode (TM-11). @throws PlacetError `not_found`, `epoch_stale` */
  markApplied(name: RequestName, epoch: number, effectiveMode: PermissionMode): Promise<RequestRecord> {
    return markApplied(this.#context, this.#reader, name, { epoch, mode: effectiveMode });
  }

  /** How the work ended (TM-16). @throws PlacetError `not_found`, `epoch_stale` */
  settle(name: RequestName, settlement: Settlement): Promise<RequestRecord> {
    return settleWork(this.#context, this.#reader, name, settlement);
  }

  /** Wakes again whatever is owed a step, at most `limit` looked at; answers how many it woke (TM-5). */
  wakeDue(team: TeamName, limit: number, fence?: DutyFence): Promise<number> {
    return wakeSessions(this.#context, team, limit, fence);
  }

  /**
   * Deletes what was settled longer ago than the retention or is beyond its count, oldest first, at most `limit`
   * requests and as many tasks; answers how many (TM-42, ST-9). Takes such events away too.
   */
  purge(team: TeamName, limit: number, fence?: DutyFence): Promise<number> {
    return purgeSettled(this.#context, this.#reader, team, limit, fence);
  }
}
