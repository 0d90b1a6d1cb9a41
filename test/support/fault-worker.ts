import { type MailboxPort, queueName, queuePrefix, type RedisHandle } from '@placet/mailbox';
import { jobNames, Wake } from '@placet/protocol';
import { DelayedError, type Job, Worker } from 'bullmq';
import { answerWake, type ParkedPlan, parkPlan } from './fault-sessions.ts';

/** How a bare worker is made. */
export interface BareWorkerOptions {
  handle: RedisHandle;
  port: MailboxPort;
  concurrency: number;
  /** Called the moment the store has a plan; its job goes on when this is through. */
  onSubmitted?: (plan: ParkedPlan) => Promise<void> | void;
  /** Called when a wake-up finds its session held by somebody. */
  onBusy?: (sessionId: string) => void;
  /** Called under the claim of the work, with what was claimed. */
  onWork?: (sessionId: string, epoch: number) => void;
}

/** How long a wake-up is put off that finds its session busy, in milliseconds. */
const busyPauseMs = 50;

/**
 * A worker of a teammate's queue without agent, trees and journal: every job does with the store what a teammate does,
 * and nothing else. For suites that are about waking.
 */
export function startBareWorker(options: BareWorkerOptions): Worker {
  const { handle, port, concurrency } = options;
  const worker = new Worker(queueName, (job, token) => run(options, job, token), {
    connection: { ...handle.options, retryStrategy: () => 100, maxRetriesPerRequest: null },
    prefix: queuePrefix(port.team, port.teammate),
    concurrency,
  });
  worker.on('error', () => undefined); // a suite that waits in vain says so itself
  return worker;
}

async function run(options: BareWorkerOptions, job: Job, token: string | undefined): Promise<void> {
  const { port, onSubmitted, onWork, onBusy } = options;
  if (job.name === jobNames.task) {
    await parkPlan(port, Number(job.timestamp), onSubmitted, job.id?.slice('task-'.length));
    return;
  }
  const { sessionId } = Wake.parse(job.data);
  const outcome = await answerWake(port, sessionId, (epoch) => onWork?.(sessionId, epoch));
  if (outcome !== 'busy') return;
  onBusy?.(sessionId);
  await job.moveToDelayed(Date.now() + busyPauseMs, token);
  throw new DelayedError();
}
