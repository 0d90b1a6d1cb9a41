import { isTaskOver, TaskPhase, type TeamEvent } from '@placet/protocol';

/** How a task ended, as an event tells it. */
export interface TaskEnd {
  phase: TaskPhase;
  /** Why it failed, such as `plan_timeout`. */
  reason: string | undefined;
}

/**
 * What an event says of the end of its task; undefined while that goes on. Work that is settled ends the task in the
 * same step, so that its event stands for both. `replans`: work on a workspace that moved is planned again.
 */
export function taskEndOf(event: TeamEvent, { replans = false } = {}): TaskEnd | undefined {
  const reason = typeof event.reason === 'string' ? event.reason : undefined;
  if (event.type === 'task:phase') {
    const phase = TaskPhase.safeParse(event.phase);
    return phase.success && isTaskOver(phase.data) ? { phase: phase.data, reason } : undefined;
  }
  if (event.type !== 'work' || (event.state !== 'done' && event.state !== 'failed')) return undefined;
  return replans && reason === 'base_moved' ? undefined : { phase: event.state, reason };
}
