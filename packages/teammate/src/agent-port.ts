import type { Gate, StoredPlan } from '@placet/plan-mode';
import type { Job, Log, PermissionMode, SessionId, WorkingMode } from '@placet/protocol';

/** What a lead said of the plan before, for the next revision (TM-7). */
export interface PlanFeedback {
  text: string;
  /** The plan that was rejected, or an earlier one that timed out. */
  rejectedPlan: string | undefined;
}

/** One phase of one session as its agent sees it. */
export interface AgentSession {
  sessionId: SessionId;
  job: Job;
  /** The folder to work in: the task's own tree, never the source itself. */
  cwd: string;
  /** Folders that must not change while planning: the tree and where it comes from. */
  protectedFolders: readonly string[];
  /** Absolute. The plan is written here while planning; while implementing it holds the plan as approved. */
  planFilePath: string;
  /** A private folder of the session that the agent may leave notes in; it survives from phase to phase. */
  scratchFolder: string;
  /** Where the agent's output is kept, for people. */
  outputFile: string;
  feedback: PlanFeedback | undefined;
  /** Which plan of the session this is or was: 1 and on. */
  revision: number;
  /** Every tool call goes through it (TM-20). While planning it refuses what is not plan-safe. */
  gate: Gate;
  /**
   * To be called with what was started, before it does anything: the next holder of the session ends it if this
   * process is lost (TM-16).
   */
  onRunning(process: { pid: number }): Promise<void>;
  /** Aborts when the phase must end at once: the session is lost to another process, or this one stops. */
  signal: AbortSignal;
  log: Log;
}

/** A verified approval, as the runtime needs it. */
export interface GrantedWork {
  requestId: string;
  permissionMode: WorkingMode;
  /** The plan as approved, perhaps edited by the lead. */
  plan: StoredPlan;
  planEdited: boolean;
  decidedBy: string;
  /** What the agent should know before it begins, such as a workspace that moved (TM-13). */
  notices: readonly string[];
  /** Whether an earlier attempt under this decision was interrupted; the tree is a fresh one all the same (TM-8). */
  startedBefore: boolean;
  /**
   * To be called with the mode that the runtime is really in, read back and not assumed (TM-11), before the agent
   * does anything. When it answers false the agent must not start.
   */
  confirmMode(effective: PermissionMode): Promise<boolean>;
}

/** How a phase ended. A plan phase that ended as `finished` has its plan in the plan file, or none. */
export type PhaseOutcome =
  | { kind: 'finished' }
  /** The agent's own fault; `detail` is short and holds no plan. */
  | { kind: 'failed'; reason: 'agent_failed' | 'plan_mode_violation' | 'mode_mismatch'; detail: string }
  /** Ended by the session's signal. */
  | { kind: 'interrupted' };

/**
 * What runs agents (TM-20). A runtime holds nothing that another process would need: a session can be taken up
 * anywhere by what is in its record and its folders.
 */
export interface AgentRuntime {
  /**
   * Set by a runtime whose agent cannot be taken up after its process is gone: the process waits with it for the
   * decision, at most so long, and a slot of the worker is taken meanwhile (TM-6).
   */
  readonly heldForMs?: number | undefined;
  /** Makes a plan, or a revision of one, and changes nothing. */
  plan(session: AgentSession): Promise<PhaseOutcome>;
  /** Carries out an approved plan. */
  implement(session: AgentSession, work: GrantedWork): Promise<PhaseOutcome>;
  /** Takes up a plan phase that was interrupted; a runtime that cannot, plans anew. */
  resume(session: AgentSession): Promise<PhaseOutcome>;
  /** Ends whatever runs for the session, and answers when nothing does. */
  interrupt(sessionId: SessionId): Promise<void>;
}
