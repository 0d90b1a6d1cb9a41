import { z } from 'zod';

/** The states of a request (2.3); all but `pending` are terminal. */
export const RequestState = z.enum([
  'pending',
  'approved',
  'rejected',
  'teleport',
  'timeout',
  'withdrawn',
  'superseded',
]);
export type RequestState = z.infer<typeof RequestState>;

/** How a request can end. */
export const Outcome = RequestState.exclude(['pending']);
export type Outcome = z.infer<typeof Outcome>;

/** What a lead can decide. */
export const DecisionOutcome = z.enum(['approved', 'rejected', 'teleport']);
export type DecisionOutcome = z.infer<typeof DecisionOutcome>;

/** Who can bring a transition about. */
export type TransitionActor = 'lead' | 'teammate' | 'clock';

interface Transition {
  from: RequestState;
  actor: TransitionActor;
  /** Whether the outcome is worth something only with the lead's signature (IN-1). */
  signed: boolean;
  /** What a command exits with that waited for this outcome (WR-40). */
  exitCode: number;
}

/**
 * The one table of how a request changes (2.3), by the state it changes to. Routes, Lua and the console read it;
 * nothing else says which change is allowed.
 */
export const requestTransitions = {
  approved: { from: 'pending', actor: 'lead', signed: true, exitCode: 0 },
  rejected: { from: 'pending', actor: 'lead', signed: true, exitCode: 3 },
  teleport: { from: 'pending', actor: 'lead', signed: true, exitCode: 5 },
  timeout: { from: 'pending', actor: 'clock', signed: false, exitCode: 4 },
  withdrawn: { from: 'pending', actor: 'teammate', signed: false, exitCode: 6 },
  superseded: { from: 'pending', actor: 'teammate', signed: false, exitCode: 6 },
} as const satisfies Record<Outcome, Transition>;

/** Whether nothing can change a request in this state any more. */
export function isTerminal(state: RequestState): state is Outcome {
  return state !== 'pending';
}

/** The states of the work under an approval (WR-27, TM-11, TM-16). */
export const WorkState = z.enum(['none', 'claimed', 'applied', 'done', 'failed']);
export type WorkState = z.infer<typeof WorkState>;

/**
 * The one table of how work changes, by the state it changes to. `claimed` again from `claimed` or `applied` is a
 * take-over under a later epoch, and only when the lease of the former one is gone (TM-8, TM-16).
 */
export const workTransitions = {
  claimed: { from: ['none', 'claimed', 'applied'] },
  applied: { from: ['claimed'] },
  done: { from: ['claimed', 'applied'] },
  failed: { from: ['none', 'claimed', 'applied'] },
} as const satisfies Record<Exclude<WorkState, 'none'>, { from: WorkState[] }>;

/** Whether the work is over, well or not. */
export function isSettled(state: WorkState): state is 'done' | 'failed' {
  return state === 'done' || state === 'failed';
}
