import {
  AskingMessage,
  type Digest,
  isAsking,
  type Job,
  leadInboxName,
  type Message,
  type PermissionMode,
  type PostureReport,
  parseOrThrow,
  type QuestionRecord,
  type RequestRecord,
  type Submission,
  type TaskRecord,
  type TeamEventBody,
} from '@placet/protocol';
import type { EventLog } from './event-log.ts';
import type { InboxStore } from './inbox-store.ts';
import type {
  HoldResult,
  LeaseResult,
  MailboxPort,
  SessionLease,
  Settlement,
  SubmitResult,
  TakenEntry,
  TaskChange,
} from './mailbox-port.ts';
import type { Presence } from './presence.ts';
import type { AskResult } from './question-asking.ts';
import type { QuestionStore } from './question-store.ts';
import type { RequestStore } from './request-store.ts';
import type { SessionStore } from './session-store.ts';
import type { TaskStore } from './task-store.ts';

/** Whose mailbox a port is, and what goes with its submissions. */
export interface PortIdentity {
  team: string;
  teammate: string;
  /** The principal that owns the teammate. */
  owner: string;
  /** The proof of that, as signed (IN-6). */
  ownerProof: string | undefined;
  /** The digest of the policy in force (TM-31). */
  policyDigest: Digest;
}

/** What a port is made of. */
export interface PortStores {
  requests: RequestStore;
  tasks: TaskStore;
  questions: QuestionStore;
  sessions: SessionStore;
  inboxes: InboxStore;
  events: EventLog;
  presence: Presence;
}

/** A teammate's mailbox, directly on Redis (TM-50, profile `shared`). */
export class RedisMailboxPort implements MailboxPort {
  readonly team: string;
  readonly teammate: string;
  readonly #identity: PortIdentity;
  readonly #stores: PortStores;

  constructor(stores: PortStores, identity: PortIdentity) {
    this.team = identity.team;
    this.teammate = identity.teammate;
    this.#identity = identity;
    this.#stores = stores;
  }

  submit(submission: Submission, lease?: SessionLease): Promise<SubmitResult> {
    return this.#stores.requests.submit({ ...this.#identity, submission, epoch: lease?.epoch });
  }

  async getRequest(requestId: string): Promise<RequestRecord | undefined> {
    const record = await this.#stores.requests.get(this.team, requestId);
    return record?.teammate === this.teammate ? record : undefined;
  }

  getPlan(digest: Digest): Promise<Uint8Array | undefined> {
    return this.#stores.requests.planBytes(this.team, digest);
  }

  withdraw(requestId: string): Promise<RequestRecord> {
    return this.#stores.requests.withdraw(this.#name(requestId));
  }

  takeEntries(limit: number): Promise<TakenEntry[]> {
    return this.#stores.inboxes.take(this.team, this.teammate, limit);
  }

  acknowledge(ids: string[]): Promise<number> {
    return this.#stores.inboxes.acknowledge(this.team, this.teammate, ids);
  }

  ask(asking: AskingMessage, lease?: SessionLease): Promise<AskResult> {
    const { team, teammate } = this;
    return this.#stores.questions.ask({ team, teammate, asking, epoch: lease?.epoch });
  }

  getQuestion(requestId: string): Promise<QuestionRecord | undefined> {
    return this.#stores.questions.getOwn(this.#name(requestId));
  }

  takeBack(requestId: string): Promise<QuestionRecord> {
    return this.#stores.questions.takeBack(this.#name(requestId));
  }

  async sendToLead(message: Message, operationId: string): Promise<void> {
    if (isAsking(message)) {
      await this.ask(parseOrThrow(AskingMessage, message, 'the question'));
      return;
    }
    await this.#stores.inboxes.send(this.team, {
      from: this.teammate,
      to: leadInboxName,
      message,
      operationId,
    });
  }

  openTask(sessionId: string, job: Job): Promise<TaskRecord> {
    return this.#stores.tasks.open(this.#session(sessionId), job);
  }

  getTask(sessionId: string): Promise<TaskRecord | undefined> {
    return this.#stores.tasks.get(this.#session(sessionId));
  }

  holdSession(sessionId: string, holder: string, leaseMs: number): Promise<HoldResult> {
    return this.#stores.tasks.hold(this.#session(sessionId), holder, leaseMs);
  }

  renewSession(lease: SessionLease, leaseMs: number): Promise<boolean> {
    return this.#stores.tasks.renew(this.#session(lease.sessionId), lease, leaseMs);
  }

  releaseSession(lease: SessionLease): Promise<void> {
    return this.#stores.tasks.release(this.#session(lease.sessionId), lease);
  }

  changeTask(lease: SessionLease, change: TaskChange): Promise<boolean> {
    return this.#stores.tasks.change(this.#session(lease.sessionId), lease, change);
  }

  enterPlanMode(sessionId: string): Promise<void> {
    return this.#stores.tasks.enterPlanMode(this.#session(sessionId));
  }

  reportPosture(sessionId: string, report: PostureReport, lease?: SessionLease): Promise<boolean> {
    return this.#stores.sessions.report(this.#session(sessionId), report, lease?.epoch);
  }

  async loadPosture(sessionId: string): Promise<PostureReport | undefined> {
    return (await this.#stores.sessions.look(this.#session(sessionId)))?.report?.said;
  }

  saveDraft(sessionId: string, plan: string, lease?: SessionLease): Promise<boolean> {
    return this.#stores.sessions.saveDraft(this.#session(sessionId), plan, lease?.epoch);
  }

  loadDraft(sessionId: string): Promise<string | undefined> {
    return this.#stores.sessions.loadDraft(this.#session(sessionId));
  }

  claim(requestId: string, holder: string, leaseMs: number, session?: string): Promise<LeaseResult> {
    return this.#stores.requests.claim(this.#name(requestId), holder, leaseMs, session);
  }

  async markDelivered(requestId: string): Promise<void> {
    await this.#stores.requests.markDelivered(this.#name(requestId));
  }

  async markApplied(requestId: string, epoch: number, effectiveMode: PermissionMode): Promise<void> {
    await this.#stores.requests.markApplied(this.#name(requestId), epoch, effectiveMode);
  }

  settle(requestId: string, settlement: Settlement): Promise<RequestRecord> {
    return this.#stores.requests.settle(this.#name(requestId), settlement);
  }

  reportPresence(process: string, ttlMs: number): Promise<void> {
    return this.#stores.presence.report(this.team, this.teammate, process, ttlMs);
  }

  async report(event: TeamEventBody): Promise<void> {
    await this.#stores.events.append(this.team, event);
  }

  #name(requestId: string) {
    return { team: this.team, teammate: this.teammate, requestId };
  }

  #session(sessionId: string) {
    return { team: this.team, teammate: this.teammate, sessionId };
  }
}
