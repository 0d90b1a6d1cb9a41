import {
  Job,
  jobNames,
  newSessionId,
  PlacetError,
  parseOrThrow,
  type SessionId,
  type TeammateName,
  type TeamName,
  type Wake,
} from '@placet/protocol';
import { type JobsOptions, Queue } from 'bullmq';
import type { RedisHandle } from './connection.ts';
import { queueName, queuePrefix } from './keys.ts';
import { storeCall } from './scripts.ts';

/** How many jobs of a queue are in which state. */
export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

type QueueData = Job | Wake;

/** Queues that are open at once; the one used longest ago is closed for the next. */
const maxOpenQueues = 500;
/** BullMQ's own events, which nobody here reads; a stream keeps at least a node of them. */
const keptQueueEvents = 10;

/**
 * What a job is made with (TM-14): one that ends leaves nothing, one that fails for good is kept for a while, to be
 * looked at. Such a job swallows a new one of its id; hence the rising numbers of wakes (TM-5).
 */
const jobOptions = {
  attempts: 10,
  backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { count: 100, age: 7 * 24 * 60 * 60 },
  stackTraceLimit: 5,
} as const satisfies JobsOptions;

/** Puts jobs into teammates' queues (TM-5, TM-14). Adding is idempotent on the job's id. */
export class TaskQueues {
  readonly #handle: RedisHandle;
  readonly #queues = new Map<string, Queue<QueueData>>();

  constructor(handle: RedisHandle) {
    this.#handle = handle;
  }

  /**
   * Enqueues a task under its session's id.
   * @returns the job's id, `task-<sessionId>`
   * @throws PlacetError `validation_failed`, `store_unavailable`
   */
  async enqueueTask(
    team: TeamName,
    teammate: TeammateName,
    job: Job,
    sessionId: SessionId = newSessionId(),
  ): Promise<string> {
    const data = parseOrThrow(Job, job, 'the task');
    return this.#add(team, teammate, jobNames.task, `task-${asJobId(sessionId)}`, data);
  }

  /** Wakes a parked session; the number rises with each wake. @throws PlacetError `store_unavailable` */
  enqueueWake(team: TeamName, teammate: TeammateName, sessionId: SessionId, wake: number): Promise<string> {
    return this.#add(team, teammate, jobNames.wake, `wake-${asJobId(sessionId)}-${wake}`, {
      sessionId,
      wake,
    });
  }

  /** Has a failed task tried again (`placet run --resume`): a wake with `resume: true`. */
  enqueueResume(team: TeamName, teammate: TeammateName, sessionId: SessionId): Promise<string> {
    const id = `resume-${asJobId(sessionId)}-${newSessionId()}`;
    return this.#add(team, teammate, jobNames.wake, id, { sessionId, wake: 0, resume: true });
  }

  async counts(team: TeamName, teammate: TeammateName): Promise<QueueCounts> {
    const counts = await this.#use(team, teammate, (queue) =>
      queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    );
    const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting, active, delayed, failed };
  }

  async close(): Promise<void> {
    const queues = [...this.#queues.values()];
    this.#queues.clear();
    await Promise.all(queues.map(closeQuietly));
  }

  async #add(
    team: TeamName,
    teammate: TeammateName,
    name: string,
    jobId: string,
    data: QueueData,
  ): Promise<string> {
    await this.#use(team, teammate, (queue) => queue.add(name, data, { jobId }));
    // A wake is confirmed when it leaves the outbox, and made again until then.
    if (name !== jobNames.wake || jobId.startsWith('resume-'))
      await storeCall('a job', () => this.#handle.confirm());
    return jobId;
  }

  /** A queue whose first commands failed never works again; so one that fails is thrown away. */
  async #use<Result>(
    team: TeamName,
    teammate: TeammateName,
    call: (queue: Queue<QueueData>) => Promise<Result>,
  ): Promise<Result> {
    if (this.#handle.redis.status !== 'ready')
      throw new PlacetError('store_unavailable', 'the queue cannot be reached: Redis is away', {
        retryAfterMs: 1000,
      });
    const prefix = queuePrefix(team, teammate);
    const queue = this.#queues.get(prefix) ?? this.#open(prefix);
    this.#queues.delete(prefix);
    this.#queues.set(prefix, queue); // the one used last stands last
    try {
      return await storeCall(`the queue of ${teammate}`, () => call(queue));
    } catch (error) {
      if (this.#queues.get(prefix) === queue) this.#queues.delete(prefix);
      await closeQuietly(queue);
      throw error;
    }
  }

  #open(prefix: string): Queue<QueueData> {
    const queue = new Queue<QueueData>(queueName, {
      connection: this.#handle.redis,
      prefix,
      // The handle has judged the server; and a queue must not wait for one that is away.
      skipVersionCheck: true,
      skipWaitingForReady: true,
      streams: { events: { maxLen: keptQueueEvents } },
      defaultJobOptions: jobOptions,
    });
    queue.on('error', () => undefined); // every call's own failure is thrown; the connection's the handle logs
    const [oldest] = this.#queues;
    if (oldest && this.#queues.size >= maxOpenQueues) {
      this.#queues.delete(oldest[0]);
      void closeQuietly(oldest[1]); // never rejects
    }
    return queue;
  }
}

/** Ids of jobs may hold no colon. */
function asJobId(sessionId: SessionId): string {
  return sessionId.replaceAll('%', '%25').replaceAll(':', '%3A');
}

/** The connection is the handle's and stays open. */
async function closeQuietly(queue: Queue<QueueData>): Promise<void> {
  try {
    await queue.close();
  } catch {
    // it never came to be ready; there is nothing to close
  }
}
