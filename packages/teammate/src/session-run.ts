import type { DecisionVerifier, MailboxPort, SessionLease } from '@placet/mailbox';
import type { StoredPlan } from '@placet/plan-mode';
import {
  type Clock,
  isPlacetError,
  type Job,
  type Log,
  type PlacetError,
  type RequestRecord,
  type TaskRecord,
  type TeamEventBody,
  type WorkingMode,
} from '@placet/protocol';
import type { AgentRuntime } from './agent-port.ts';
import type { OnCheckpoint } from './checkpoints.ts';
import type { Journal } from './journal.ts';
import type { Profiles } from './profiles.ts';
import type { SessionFolders } from './session-folders.ts';
import type { KeptLease } from './session-lease.ts';
import type { Source } from './workspace.ts';
import type { Worktrees } from './worktree.ts';

/** What the configuration says of a teammate's sessions. Times are milliseconds. */
export interface TeammateSettings {
  leaseMs: number;
  deadlineMs: number;
  maxRevisions: number;
  permissionCeiling: WorkingMode;
  onBaseMoved: 'notice' | 'replan' | 'refuse';
  plansDirectory: string | undefined;
}

/** What every session of a teammate's process works with. */
export interface TeammateParts {
  port: MailboxPort;
  journal: Journal;
  verifier: DecisionVerifier;
  profiles: Profiles;
  runtime: AgentRuntime;
  worktrees: Worktrees;
  settings: TeammateSettings;
  /** Real path of the teammate's data folder. */
  dataDir: string;
  /** Real paths of the folders below which tasks may work. */
  roots: readonly string[];
  /** The requests of sessions whose agents live on in this process (TM-6). */
  held: Map<string, string>;
  /** Repositories that this process has found before. */
  sources: Map<string, Source>;
  /** What Git and agents get of the environment. */
  environment: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
  checkpoint: OnCheckpoint;
  /** Requests whose decision could not be checked, and of which the lead was told. */
  doubted: Set<string>;
  /** Aborts when the process stops: planning at once, implementing after the grace (TM-9). */
  stopping: { planning: AbortSignal; implementing: AbortSignal };
}

/** What was read on the way to a lease, so that it need not be read under it. */
export interface Expected {
  /** What is probably the session's latest request. */
  request?: RequestRecord | undefined;
  /** The plan of it as it was submitted. */
  plan?: StoredPlan | undefined;
}

/** A session while this process holds it. */
export interface HeldSession {
  parts: TeammateParts;
  sessionId: string;
  /** This attempt's name as the store knows it. */
  holder: string;
  kept: KeptLease;
  /** The task as it was read under the lease. */
  task: TaskRecord;
  expected: Expected;
}

/** A held session that is worked on: its workspace is on this machine. */
export interface SessionRun extends HeldSession {
  folders: SessionFolders;
  source: Source;
}

/** What a job came to. */
export type JobOutcome =
  /** The job has nothing more to do: the session is over, waits for a lead, or is in other hands. */
  | { kind: 'ended' }
  /** Look at the session again at once. */
  | { kind: 'again' }
  /** Look at the session again later. */
  | {
      kind: 'delay';
      ms: number;
      cause: 'session_busy' | 'workspace_missing' | 'store_unavailable' | 'stopping' | 'keys_unreachable';
    };

/** The lease of the session in hand. */
export function leaseOf(run: HeldSession): SessionLease {
  return run.kept.lease;
}

/** Names a step that is done (TM-8). */
export async function reached(run: HeldSession, name: Parameters<OnCheckpoint>[0]): Promise<void> {
  await run.parts.checkpoint(name, run.sessionId);
}

/** Thrown where the session turns out to be in other hands: whatever was under way is void. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

/** Changes the task's record. @throws SessionLost when another process has the session */
export async function changeTask(
  run: HeldSession,
  change: Parameters<MailboxPort['changeTask']>[1],
): Promise<void> {
  if (!(await run.parts.port.changeTask(leaseOf(run), change)))
    throw new SessionLost('the session is in other hands');
  if (change.phase)
    await reportQuietly(run, {
      type: 'task:phase',
      phase: change.phase,
      ...(change.reason && { reason: change.reason }),
    });
}

/** Ends a task in a phase that is over. */
export async function endTask(
  run: HeldSession,
  phase: 'done' | 'failed' | 'withdrawn' | 'teleported',
  reason?: string,
): Promise<JobOutcome> {
  await changeTask(run, {
    phase,
    running: null,
    ...(reason !== undefined && { reason: reason.slice(0, 64) }),
  });
  run.parts.log.info({ sessionId: run.sessionId, phase, reason }, `the task is ${phase}`);
  await reached(run, 'end-recorded');
  return { kind: 'ended' };
}

type SessionEvent = TeamEventBody extends infer Body
  ? Body extends TeamEventBody
    ? Omit<Body, 'teammate' | 'sessionId'>
    : never
  : never;

/**
 * Appends to the team's event log. An event that cannot be written is logged and nothing more: what it tells of stands
 * in the record.
 */
export async function reportQuietly(
  run: HeldSession,
  event: SessionEvent & { type: TeamEventBody['type'] },
): Promise<void> {
  const { port, log } = run.parts;
  try {
    await port.report({ ...event, teammate: port.teammate, sessionId: run.sessionId } as TeamEventBody); // the two fields are all that was left out
  } catch (thrown) {
    log.warn({ err: thrown, sessionId: run.sessionId, type: event.type }, 'an event was not written');
  }
}

/** Tells the lead of something that should not be (I8): an event and a log line, no plan and no feedback. */
export async function alarm(
  run: HeldSession,
  code: string,
  detail: string,
  request?: RequestRecord,
): Promise<void> {
  const requestId = request?.requestId;
  run.parts.log.error({ sessionId: run.sessionId, requestId, code }, detail);
  await reportQuietly(run, { type: 'alarm', code, detail, ...(requestId && { requestId }) });
}

/** Whether the store, and not the call, is at fault: the same again later may succeed. */
export function isPassing(thrown: unknown): thrown is PlacetError {
  return isPlacetError(thrown, 'store_unavailable', 'not_durable', 'service_unreachable', 'rate_limited');
}

/** The mode to go back to, as the session may have it: `plan` is no such mode (PM-3). */
export function prePlanModeOf(task: Pick<TaskRecord, 'prePlanMode'>): WorkingMode {
  return task.prePlanMode === 'plan' ? 'default' : task.prePlanMode;
}

/** The lower of the teammate's and the job's own ceiling is checked against every granted mode. */
export function ceilingsOf(parts: TeammateParts, job: Job): WorkingMode[] {
  return [parts.settings.permissionCeiling, ...(job.permissionCeiling ? [job.permissionCeiling] : [])];
}
