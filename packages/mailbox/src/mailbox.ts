import { type Digest, type Log, Policy, policyDigest, silentLog } from '@placet/protocol';
import { AuditLog } from './audit-log.ts';
import type { RedisHandle } from './connection.ts';
import { Duties } from './duties.ts';
import { EventHub } from './event-hub.ts';
import { EventLog } from './event-log.ts';
import { InboxStore } from './inbox-store.ts';
import type { MailboxPort } from './mailbox-port.ts';
import { Presence } from './presence.ts';
import { QuestionStore } from './question-store.ts';
import { RedisMailboxPort } from './redis-mailbox-port.ts';
import { RequestStore } from './request-store.ts';
import { SessionStore } from './session-store.ts';
import type { StoreContext } from './store-context.ts';
import { TaskStore } from './task-store.ts';
import { Teams } from './teams.ts';

/** What can be set about a mailbox. */
export interface MailboxOptions {
  /** How long what is settled is kept, in milliseconds; 30 days unless set (TM-42). */
  retentionMs?: number | undefined;
  /** How many settled requests of a team are kept at most, and how many of its events; 1,000,000 unless set (TM-42). */
  retentionCount?: number | undefined;
  /** How long a taken inbox entry is out before it is offered again, in milliseconds; 60 s unless set (TM-41). */
  visibilityMs?: number | undefined;
  /** How long the reconciler leaves a new task or an ended request alone, in milliseconds; 30 s unless set (TM-5). */
  reconcileAfterMs?: number | undefined;
  /** How long a submission waits for a decision that is being made, in milliseconds; 6 s unless set. */
  rivalWaitMs?: number | undefined;
  log?: Log | undefined;
}

/** Who a port speaks for; `policyDigest` is that of the policy in force, the default one unless set. */
export interface PortOwner {
  owner: string;
  ownerProof?: string | undefined;
  policyDigest?: Digest | undefined;
}

/** Everything that is true of every team, in one Redis. Opens nothing of its own but the event hub's reader. */
export interface Mailbox {
  readonly requests: RequestStore;
  readonly tasks: TaskStore;
  readonly questions: QuestionStore;
  readonly sessions: SessionStore;
  readonly inboxes: InboxStore;
  readonly events: EventLog;
  readonly hub: EventHub;
  readonly presence: Presence;
  readonly duties: Duties;
  readonly teams: Teams;
  readonly audit: AuditLog;
  /** What one teammate needs of all this (TM-50). */
  port(team: string, teammate: string, owner: PortOwner): MailboxPort;
  /** Ends everyone who waits in the hub; the handle stays open, for it is the caller's. */
  close(): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Makes the stores of a Redis; asks it nothing yet. */
export function createMailbox(handle: RedisHandle, options: MailboxOptions = {}): Mailbox {
  const {
    retentionMs = 30 * dayMs,
    retentionCount = 1_000_000,
    reconcileAfterMs = 30_000,
    rivalWaitMs = 6000,
    log = silentLog,
  } = options;
  const teams = new Teams(handle);
  const context: StoreContext = {
    redis: handle.redis,
    writer: handle.writer,
    confirm: () => handle.confirm(),
    retentionMs,
    retentionCount,
    reconcileAfterMs,
    rivalWaitMs,
    log,
    registerTeam: (team) => teams.register(team),
  };
  const requests = new RequestStore(context);
  const tasks = new TaskStore(context);
  const questions = new QuestionStore(context, tasks);
  const sessions = new SessionStore(context);
  const events = new EventLog(handle, teams);
  const presence = new Presence(handle, teams);
  const inboxes = new InboxStore({ handle, teams, requests, questions, visibilityMs: options.visibilityMs });
  const hub = new EventHub({ handle, events, requests, log });
  const defaultPolicy = policyDigest(Policy.parse({}));
  return {
    requests,
    tasks,
    questions,
    sessions,
    inboxes,
    events,
    hub,
    presence,
    duties: new Duties(handle),
    teams,
    audit: new AuditLog(handle),
    port: (team, teammate, { owner, ownerProof, policyDigest: digest = defaultPolicy }) =>
      new RedisMailboxPort(
        { requests, tasks, questions, sessions, inboxes, events, presence },
        { team, teammate, owner, ownerProof, policyDigest: digest },
      ),
    close: () => hub.close(),
  };
}
