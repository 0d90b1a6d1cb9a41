import type { RedisHandle } from './connection.ts';
import type { Log } from './log.ts';
import type { TaskQueues } from './task-queues.ts';
import type { Teams } from './teams.ts';

/** What a relay is made of. */
export interface OutboxRelayOptions {
  handle: RedisHandle;
  queues: TaskQueues;
  teams: Teams;
  log?: Log | undefined;
  /** How long an entry may be in the hands of another relay before this one takes it; 5000 unless set (ST-7). */
  claimAfterMs?: number | undefined;
}

/** Turns outbox entries of every team into jobs, at least once (TM-5, ST-7). Any number may run at once. */
export class OutboxRelay {
  constructor(_options: OutboxRelayOptions) {}

  /** Starts relaying; Redis need not be there yet. */
  start(): void {}

  /** Stops after the batch in hand. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
