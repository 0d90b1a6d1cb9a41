import { setTimeout as pause } from 'node:timers/promises';
import { findUnsafeJson, isPlacetError, Job, jobNames, type Log, Wake } from '@placet/protocol';
import { DelayedError, type Job as QueueJob, UnrecoverableError, Worker } from 'bullmq';
import type { Cluster, RedisOptions } from 'ioredis';
import { lookAtSession } from './look-at-session.ts';
import { isPassing, type JobOutcome, type TeammateParts } from './session-run.ts';

/** How a worker reaches its queue. */
export interface QueuePlace {
  /** Options to make connections with or, in a Cluster, a connection that is closed by whoever made it. */
  connection: RedisOptions | Cluster;
  prefix: string;
  name: string;
}

/** What can be said of a worker's health (TM-14): jobs move, or there are none to move. */
export interface WorkerHealth {
  running: boolean;
  activeJobs: number;
  /** When a job last began or ended, in milliseconds since the epoch; undefined before the first. */
  lastMovedAtMs: number | undefined;
}

/** How a worker runs. */
export interface WorkerOptions {
  queue: QueuePlace;
  concurrency: number;
  /** How long a job of a process that died stays with it, in milliseconds. */
  lockMs: number;
}

const sessionIdPattern = /^task-([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/;
/** A job is begun at most so often, however it ends (TM-14); the reconciler wakes the session by another one then. */
const maxStartedAttempts = 1000;
/** How often a job may be found abandoned: each time, a process died. */
const maxStalledCount = 100;
/** The queue's connection comes back by itself, however long Redis is away (OP-6). */
const retryStrategy = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 1000);
const busyPauseMs = { first: 100, longest: 10_000 } as const;

/** Takes jobs from the teammate's own queue (TM-1) and has each look at its session. */
export class TeammateWorker {
  readonly #parts: TeammateParts;
  readonly #worker: Worker;
  #lastMovedAtMs: number | undefined;
  #active = 0;
  #saidAway = false;

  constructor(parts: TeammateParts, { queue, concurrency, lockMs }: WorkerOptions) {
    this.#parts = parts;
    this.#worker = new Worker(queue.name, (job, token) => this.#process(job, token), {
      connection:
        'isCluster' in queue.connection
          ? queue.connection
          : { ...queue.connection, retryStrategy, maxRetriesPerRequest: null },
      prefix: queue.prefix,
      autorun: false,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      maxStalledCount,
      maxStartedAttempts,
    });
    this.#worker.on('error', (err) => this.#sayAway(err));
    this.#worker.on('ready', () => {
      this.#saidAway = false;
    });
    this.#worker.on('failed', (job, err) => void this.#sayFailed(job, err)); // never rejects
    this.#worker.on('stalled', (jobId) =>
      parts.log.warn({ jobId }, 'a job was abandoned and is taken up again'),
    );
  }

  /** Begins to take jobs. Redis need not be there yet. */
  start(): void {
    this.#worker.run().catch((err: unknown) => this.#parts.log.error({ err }, 'the worker ended'));
  }

  health(): WorkerHealth {
    return {
      running: this.#worker.isRunning(),
      activeJobs: this.#active,
      lastMovedAtMs: this.#lastMovedAtMs,
    };
  }

  /** Takes no more jobs, and waits for those in hand. With `force`, does not wait for the queue's answers either. */
  async close(force: boolean): Promise<void> {
    await this.#worker.close(force);
  }

  async #process(job: QueueJob, token: string | undefined): Promise<void> {
    this.#moved(1);
    try {
      const outcome = await this.#outcomeOf(job);
      if (outcome.kind !== 'delay') return;
      await job.moveToDelayed(this.#parts.clock.now() + delayOf(outcome, job.attemptsStarted), token);
      this.#parts.log.debug({ jobId: job.id, cause: outcome.cause }, 'the job is delayed');
      throw new DelayedError();
    } finally {
      this.#moved(-1);
    }
  }

  async #outcomeOf(job: QueueJob): Promise<JobOutcome> {
    try {
      if (job.name === jobNames.task) return await this.#begin(job);
      if (job.name === jobNames.wake) return await this.#wake(job);
    } catch (thrown) {
      if (isPassing(thrown))
        return { kind: 'delay', ms: thrown.retryAfterMs ?? 1000, cause: 'store_unavailable' };
      if (isPlacetError(thrown, 'workspace_missing'))
        return { kind: 'delay', ms: 5000, cause: 'workspace_missing' };
      throw thrown;
    }
    throw new UnrecoverableError(`job_invalid: there are no jobs called "${job.name}"`);
  }

  /** Job data is untrusted (TM-2): it is read as what it claims to be, or not at all. */
  async #begin(job: QueueJob): Promise<JobOutcome> {
    const { port, checkpoint } = this.#parts;
    const sessionId = sessionIdPattern.exec(job.id ?? '')?.[1];
    const parsed = Job.safeParse(job.data);
    if (
      !sessionId ||
      !parsed.success ||
      findUnsafeJson(job.data).length > 0 ||
      parsed.data.team !== port.team
    )
      return this.#refuse(job, sessionId);
    await port.openTask(sessionId, parsed.data);
    await checkpoint('task-opened', sessionId);
    return lookAtSession(this.#parts, sessionId, false);
  }

  async #wake(job: QueueJob): Promise<JobOutcome> {
    const parsed = Wake.safeParse(job.data);
    if (!parsed.success) return this.#refuse(job, undefined);
    try {
      return await lookAtSession(this.#parts, parsed.data.sessionId, parsed.data.resume === true);
    } catch (thrown) {
      // A session without a task is a foreign client's, which reads its inbox itself.
      if (isPlacetError(thrown, 'not_found')) return { kind: 'ended' };
      throw thrown;
    }
  }

  async #refuse(job: QueueJob, sessionId: string | undefined): Promise<never> {
    const { port, log } = this.#parts;
    const detail = `the job ${job.id} is not well-formed, or is of another team`;
    log.error({ jobId: job.id, code: 'job_invalid' }, detail);
    await port.report({
      type: 'alarm',
      code: 'job_invalid',
      detail,
      teammate: port.teammate,
      ...(sessionId && { sessionId }),
    });
    throw new UnrecoverableError(`job_invalid: ${detail}`);
  }

  /** A job that is given up is the lead's to know (I8); the session itself is woken again by the reconciler. */
  async #sayFailed(job: QueueJob | undefined, err: Error): Promise<void> {
    const { log, port } = this.#parts;
    log.error({ err, jobId: job?.id }, 'a job failed');
    if (job && (err instanceof UnrecoverableError || job.attemptsMade < (job.opts.attempts ?? 1))) return;
    const detail = `the job ${job?.id ?? 'of a lost worker'} was given up; the log has why`;
    await port
      .report({ type: 'alarm', code: 'internal', detail, teammate: port.teammate })
      .catch((thrown: unknown) => log.warn({ err: thrown }, 'an event was not written'));
  }

  /** Once for each time that the queue is away: every attempt to reach it fails with an event of its own. */
  #sayAway(err: Error): void {
    const { log } = this.#parts;
    if (this.#saidAway) log.debug({ err }, 'the queue does not answer');
    else log.warn({ err }, 'the queue does not answer; waiting for it');
    this.#saidAway = true;
  }

  #moved(by: number): void {
    this.#saidAway = false;
    this.#active += by;
    this.#lastMovedAtMs = this.#parts.clock.now();
  }
}

/**
 * How long a job is put off. A session is usually free at once, so the first look comes soon and later ones more rarely;
 * never later than its lease lapses.
 */
function delayOf(outcome: JobOutcome & { kind: 'delay' }, attempts: number): number {
  if (outcome.cause !== 'session_busy') return outcome.ms;
  const growing = Math.min(busyPauseMs.first * 2 ** Math.min(attempts, 10), busyPauseMs.longest);
  return Math.max(Math.min(outcome.ms, growing), 1);
}

/** Says every third of its time that this process is alive (TM-12), until the signal aborts. Faults are logged once. */
export async function reportPresence(
  parts: TeammateParts,
  processName: string,
  ttlMs: number,
  signal: AbortSignal,
): Promise<void> {
  let wasSaid = false;
  while (!signal.aborted) {
    try {
      await parts.port.reportPresence(processName, ttlMs);
      wasSaid = false;
    } catch (err) {
      if (!wasSaid) sayPresenceFault(parts.log, err);
      wasSaid = true;
    }
    await pause(ttlMs / 3, undefined, { signal }).catch(() => undefined); // an abort ends the loop
  }
}

function sayPresenceFault(log: Log, err: unknown): void {
  log.warn({ err }, 'the teammate cannot say that it is alive');
}
