export type { AgentRuntime, AgentSession, GrantedWork, PhaseOutcome, PlanFeedback } from './agent-port.ts';
export { type Checkpoint, checkpoints, type OnCheckpoint } from './checkpoints.ts';
export { minimalEnvironment } from './command-agent/agent-environment.ts';
export { CommandRuntime, type CommandRuntimeOptions } from './command-agent/command-runtime.ts';
export { type Confinement, confinements } from './command-agent/confinement.ts';
export { type Confinements, detectConfinements } from './command-agent/detect-confinements.ts';
export { type GuardedOptions, type GuardedProcess, startGuarded } from './command-agent/guarded-process.ts';
export { type Intent, Journal, type Made } from './journal.ts';
export { createTeammateLog, type TeammateLog } from './log.ts';
export { branchOf } from './plan-place.ts';
export { endLeftover, identityOf } from './process-identity.ts';
export { Profiles } from './profiles.ts';
export { type KeepLeaseOptions, type KeptLease, keepLease } from './session-lease.ts';
export type { JobOutcome, TeammateSettings } from './session-run.ts';
export { createTeammate, type Teammate, type TeammateOptions } from './teammate.ts';
export {
  startTeammateProcess,
  type TeammateProcess,
  type TeammateProcessOptions,
} from './teammate-process.ts';
export { fingerprint, treeDigest } from './tree-fingerprint.ts';
export type { QueuePlace, WorkerHealth } from './worker.ts';
export {
  captureWorkspace,
  findSource,
  movedBetween,
  realRoots,
  type Source,
  type SourceResult,
} from './workspace.ts';
export { type Made as TreeResult, type Tree, type TreeName, Worktrees } from './worktree.ts';
