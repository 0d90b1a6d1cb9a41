import {
  connectRedis,
  type Durability,
  EventLog,
  type RedisHandle,
  TaskQueues,
  Teams,
} from '@placet/mailbox';
import { type Job, newSessionId, PlacetError } from '@placet/protocol';

/** What is put into a teammate's queue, and how. */
export interface Enqueuing {
  redisUrl: string;
  /** How long a store call may take, in milliseconds. */
  timeoutMs: number;
  /** When the task counts as queued (TM-46). */
  durability: Durability;
  signal: AbortSignal;
  team: string;
  teammate: string;
  /** A new task, or the session of one that is to be tried again. */
  what: { job: Job } | { resume: string };
}

/** A task that is in its queue. */
export interface Enqueued {
  jobId: string;
  sessionId: string;
  /** The team's last event from before: what happens to the task comes behind it. */
  after: string;
}

/**
 * Puts a task into a teammate's queue.
 * @throws PlacetError `store_unavailable` when Redis is not there in time, `not_durable` when its replicas are not
 */
export async function enqueueTask({
  redisUrl,
  timeoutMs,
  durability,
  signal,
  team,
  teammate,
  what,
}: Enqueuing): Promise<Enqueued> {
  const handle = connectRedis({ url: redisUrl, name: 'placet-run', timeoutMs, durability });
  const queues = new TaskQueues(handle);
  try {
    await readyWithin(handle, timeoutMs * 2, signal);
    const after = await new EventLog(handle, new Teams(handle)).last(team);
    const sessionId = 'resume' in what ? what.resume : newSessionId();
    const jobId =
      'resume' in what
        ? await queues.enqueueResume(team, teammate, sessionId)
        : await queues.enqueueTask(team, teammate, what.job, sessionId);
    return { jobId, sessionId, after };
  } finally {
    await queues.close();
    await handle.close();
  }
}

async function readyWithin(handle: RedisHandle, ms: number, signal: AbortSignal): Promise<void> {
  const tooLate = AbortSignal.timeout(ms);
  try {
    await handle.ready(AbortSignal.any([signal, tooLate]));
  } catch (error) {
    if (!tooLate.aborted) throw error;
    throw new PlacetError('store_unavailable', 'Redis does not answer, so the task was not queued');
  }
}
