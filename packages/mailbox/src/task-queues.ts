import { type Job, PlacetError, type SessionId, type TeammateName, type TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';

/** How many jobs of a queue are in which state. */
export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/** Puts jobs into teammates' queues (TM-5, TM-14). Adding is idempotent on the job's id. */
export class TaskQueues {
  constructor(_handle: RedisHandle) {}

  /** Enqueues a task under its session's id. @returns the job's id, `task-<sessionId>` */
  enqueueTask(_team: TeamName, _teammate: TeammateName, _job: Job, _sessionId?: SessionId): Promise<string> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Wakes a parked session; the number rises with each wake. */
  enqueueWake(
    _team: TeamName,
    _teammate: TeammateName,
    _sessionId: SessionId,
    _wake: number,
  ): Promise<string> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Has a failed task tried again (`placet run --resume`): a wake with `resume: true`. */
  enqueueResume(_team: TeamName, _teammate: TeammateName, _sessionId: SessionId): Promise<string> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  counts(_team: TeamName, _teammate: TeammateName): Promise<QueueCounts> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
