import {
  errorCatalogue,
  isTerminal,
  type PlacetError,
  type RequestState,
  requestTransitions,
  type TaskPhase,
} from '@placet/protocol';

/** What commands exit with (WR-40). */
export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  rejected: 3,
  timeout: 4,
  teleport: 5,
  withdrawn: 6,
  notAuthorised: 7,
  unreachable: 8,
} as const;

/** A code of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What a command exits with that waited for a request; one that is still pending when the wait is over is a timeout. */
export function exitCodeOfState(state: RequestState): number {
  return isTerminal(state) ? requestTransitions[state].exitCode : exitCodes.timeout;
}

/** What a command exits with that ended with an error. */
export function exitCodeOfError(error: PlacetError): number {
  return errorCatalogue[error.code].exitCode;
}

const exitCodeOfReason: Readonly<Record<string, ExitCode>> = {
  plan_timeout: exitCodes.timeout,
  expired_unapplied: exitCodes.timeout,
  revisions_exhausted: exitCodes.rejected,
};

/** What a command exits with that followed a task to its end; `reason` is why it failed, `plan_timeout` for one. */
export function exitCodeOfTask(phase: TaskPhase, reason?: string): ExitCode {
  if (phase === 'done') return exitCodes.done;
  if (phase === 'teleported' || phase === 'handed_over') return exitCodes.teleport;
  if (phase === 'withdrawn') return exitCodes.withdrawn;
  return exitCodeOfReason[reason?.split(':')[0] ?? ''] ?? exitCodes.failure;
}
