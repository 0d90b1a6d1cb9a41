import type { Log } from './log.ts';

/** Runs a task that nobody waits for; what it throws is logged with its name. */
export function background(name: string, task: Promise<unknown>, log: Log): void {
  task.catch((err: unknown) => log.error({ err, task: name }, 'a background task failed'));
}
