import type {
  AskingMessage,
  Decision,
  Digest,
  Envelope,
  Job,
  PermissionMode,
  PostureReport,
  QuestionRecord,
  RequestId,
  RequestRecord,
  SessionId,
  Submission,
  TaskPhase,
  TaskRecord,
  TeamEventBody,
} from '@placet/protocol';
import type { AskResult } from './question-asking.ts';

/** How a submission went (WR-23, WR-25). */
export interface SubmitResult {
  /** `standing`: the session's approval of this very plan still stands, and `record` is it, under its old ID. */
  kind: 'created' | 'replayed' | 'standing';
  record: RequestRecord;
}

/** A session held by this process until its lease lapses (TM-16). */
export interface SessionLease {
  sessionId: SessionId;
  /** Rises with every holder; what an earlier epoch does is void. */
  epoch: number;
  /** What the former holder said it was running, where it did not end properly. */
  leftover: string | undefined;
}

/** What came of trying to hold a session, or to claim work. */
export type LeaseResult =
  | { kind: 'held'; lease: SessionLease }
  /** Another process holds it for at most `freeInMs` more. */
  | { kind: 'busy'; freeInMs: number };

/** What came of holding a session: with its lease, the task as it was in that moment. */
export type HoldResult =
  | { kind: 'held'; lease: SessionLease; task: TaskRecord }
  | Extract<LeaseResult, { kind: 'busy' }>;

/** What a holder writes into a task's record; a field that is not named stays. */
export interface TaskChange {
  phase?: TaskPhase;
  /** Persisted before a submission is sent (TM-4); null takes it away. */
  intent?: { requestId: RequestId; digest: Digest } | null;
  reason?: string;
  /** What is running now and must be ended by the next holder if this one is lost: `pid:start`; null when ended. */
  running?: string | null;
  branch?: string;
  commit?: string;
}

/** How work was settled. */
export interface Settlement {
  epoch: number;
  state: 'done' | 'failed';
  reason?: string | undefined;
  branch?: string | undefined;
  commit?: string | undefined;
}

/** An inbox entry that was taken and must be acknowledged. */
export interface TakenEntry extends Envelope {
  /** How often it has been offered, this time included. */
  deliveries: number;
}

/**
 * Everything that a teammate needs of the mailbox (TM-50): of one team and one teammate. Each method throws
 * PlacetError `store_unavailable` when the store does not answer in time; every write is idempotent and may be
 * repeated after that.
 */
export interface MailboxPort {
  readonly team: string;
  readonly teammate: string;

  /**
   * Submits a plan. With `lease`, only while no later holder has the session: what a worker sends that lost it is
   * refused, unless it is the repetition of what is already there.
   * @throws PlacetError `request_conflict`, `validation_failed`, `plan_required`, `payload_too_large`, `epoch_stale`
   */
  submit(submission: Submission, lease?: SessionLease): Promise<SubmitResult>;
  /** The record; undefined for an unknown or another teammate's request. Expires it lazily. */
  getRequest(requestId: RequestId): Promise<RequestRecord | undefined>;
  /** The plan's exact bytes. */
  getPlan(digest: Digest): Promise<Uint8Array | undefined>;
  /** @throws PlacetError `not_found`, `already_decided` */
  withdraw(requestId: RequestId): Promise<RequestRecord>;

  /**
   * Asks the lead, and answers at once: the record says how it ended, if it has. Where the session's task is planning,
   * the same step puts it into the phase `awaiting_answer`; the step that ends the question puts it back into
   * `planning`, wakes it and has the reconciler see to it that it goes on. So an answer is never missed, however early it comes: let go of
   * the lease after asking, and be woken. Asking again under the same ID, after a restart (PM-66), answers the one that
   * stands, and parks the task again where it is open. With `lease`, only while no later holder has the session.
   * @throws PlacetError `validation_failed`, `payload_too_large`, `request_conflict`, `epoch_stale`, `rate_limited`
   */
  ask(asking: AskingMessage, lease?: SessionLease): Promise<AskResult>;
  /**
   * The record of a question; undefined for an unknown or another teammate's. Ends it first if its deadline has passed.
   * Go by this and not by the entry in the inbox, which only says that there is something to read.
   */
  getQuestion(requestId: RequestId): Promise<QuestionRecord | undefined>;
  /** Ends a question unanswered; look at the record, for it may have ended before. @throws PlacetError `not_found` */
  takeBack(requestId: RequestId): Promise<QuestionRecord>;

  /** Entries that are due, at most `limit`; each is out for the visibility time (TM-41). */
  takeEntries(limit: number): Promise<TakenEntry[]>;
  /** Removes entries; answers how many there were. */
  acknowledge(ids: string[]): Promise<number>;
  /** Sends a message to the lead; one that asks is asked, as by `ask`. */
  sendToLead(message: { type: string; [field: string]: unknown }, operationId: string): Promise<void>;

  /** Makes the task's record in phase `planning`, once; answers the one that stands. */
  openTask(sessionId: SessionId, job: Job): Promise<TaskRecord>;
  getTask(sessionId: SessionId): Promise<TaskRecord | undefined>;
  /**
   * Holds the session, which is looked at only then. `holder` names this process and this attempt (at most 64
   * characters): a repetition by the same holder is answered with the lease that it already has.
   * @throws PlacetError `not_found` when there is no task of this session
   */
  holdSession(sessionId: SessionId, holder: string, leaseMs: number): Promise<HoldResult>;
  /** Prolongs a lease; false when it is lost. */
  renewSession(lease: SessionLease, leaseMs: number): Promise<boolean>;
  releaseSession(lease: SessionLease): Promise<void>;
  /** Changes the record under a lease; false when the lease is lost (nothing was written). */
  changeTask(lease: SessionLease, change: TaskChange): Promise<boolean>;

  /** Says that the session entered plan mode again: no former approval opens anything in it any more (WR-25). */
  enterPlanMode(sessionId: SessionId): Promise<void>;
  /**
   * Keeps what the host says of a session, in place of what it said before (PM-18): what the lead is shown, and what the
   * host takes the session up from (PM-9). With `lease`, only while no later holder has the session; false, and nothing written, where it is lost.
   * @throws PlacetError `not_found`, `validation_failed`, `payload_too_large`
   */
  reportPosture(sessionId: SessionId, report: PostureReport, lease?: SessionLease): Promise<boolean>;
  /** What was last reported; undefined where there is nothing, or nothing that can be read. */
  loadPosture(sessionId: SessionId): Promise<PostureReport | undefined>;
  /**
   * Keeps the plan that a session is writing, exactly (PM-45); submitting a plan takes it away. Answers and throws as
   * `reportPosture`.
   */
  saveDraft(sessionId: SessionId, plan: string, lease?: SessionLease): Promise<boolean>;
  loadDraft(sessionId: SessionId): Promise<string | undefined>;

  /**
   * Holds the session and claims the work of its latest request in one step (TM-16); under a lease that `holder`
   * already has, the claim takes the epoch of that lease. `session`, where the caller knows which session the request
   * is of, saves looking for it.
   * @throws PlacetError `not_found`, `not_approved`, `superseded`, `expired_unapplied`, `already_decided` (settled)
   */
  claim(requestId: RequestId, holder: string, leaseMs: number, session?: SessionId): Promise<LeaseResult>;
  /** The decision was read and verified. */
  markDelivered(requestId: RequestId): Promise<void>;
  /** The gate opened in this mode. @throws PlacetError `epoch_stale` */
  markApplied(requestId: RequestId, epoch: number, effectiveMode: PermissionMode): Promise<void>;
  /**
   * Says how the work ended. Settling again with the same epoch and state is harmless. With a `branch` the lease stays
   * until `releaseSession`: publish the branch first, and a worker that dies in between is replaced by another. Without
   * one the lease ends here.
   * @throws PlacetError `epoch_stale`
   */
  settle(requestId: RequestId, settlement: Settlement): Promise<RequestRecord>;

  /** Says that this process is alive for the next `ttlMs` (TM-12). */
  reportPresence(process: string, ttlMs: number): Promise<void>;
  /** Appends to the team's event log: phases, refusals, alarms. */
  report(event: TeamEventBody): Promise<void>;
}

/** What a verified decision lets a teammate do. */
export interface VerifiedDecision {
  decision: Decision;
  jti: string;
}
