import type { Job, SessionId, TaskRecord } from '@placet/protocol';
import { PlacetError } from '@placet/protocol';
import type { LeaseResult, SessionLease, TaskChange } from './mailbox-port.ts';
import type { StoreContext } from './request-store.ts';

/** Names a session of a teammate. */
export interface SessionName {
  team: string;
  teammate: string;
  sessionId: SessionId;
}

/** The tasks of all teammates, and the leases under which sessions are worked on (TM-2, TM-16). */
export class TaskStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Makes the task's record in phase `planning`, once; answers the one that stands. */
  open(_name: SessionName, _job: Job): Promise<TaskRecord> {
    return this.#todo();
  }

  /** The task; undefined for a session without one. */
  get(_name: SessionName): Promise<TaskRecord | undefined> {
    return this.#todo();
  }

  /** Holds a session. @throws PlacetError `not_found` when there is no task of it */
  hold(_name: SessionName, _holder: string, _leaseMs: number): Promise<LeaseResult> {
    return this.#todo();
  }

  /** Prolongs a lease; false when a later holder has the session or it was released. */
  renew(_name: SessionName, _lease: SessionLease, _leaseMs: number): Promise<boolean> {
    return this.#todo();
  }

  /** Ends a lease; nothing happens when it is lost already. */
  release(_name: SessionName, _lease: SessionLease): Promise<void> {
    return this.#todo();
  }

  /** Changes a task under its lease; false, and nothing written, when that is lost. */
  change(_name: SessionName, _lease: SessionLease, _change: TaskChange): Promise<boolean> {
    return this.#todo();
  }

  /** Says that the session entered plan mode again: no former approval stands for it any more (WR-25). */
  enterPlanMode(_name: SessionName): Promise<void> {
    return this.#todo();
  }

  #todo(): never {
    throw new PlacetError('internal', `not built yet (${this.#context.retentionMs})`);
  }
}
