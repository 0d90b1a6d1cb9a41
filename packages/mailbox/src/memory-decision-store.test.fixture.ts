import { type Decision, fromTimestamp, PlacetError, type RequestRecord } from '@placet/protocol';
import type {
  CommitCommand,
  CommitResult,
  DecisionStore,
  ReserveCommand,
  ReserveResult,
} from './decision-store.ts';
import { voteOf } from './request-codec.ts';

/** Time that stands still unless a test moves it: for every clock there is. */
export class TestTime {
  nowMs = Date.parse('2026-01-02T03:04:05.678Z');

  pass(ms: number): void {
    this.nowMs += ms;
  }

  /** Waits without waiting: the time has passed at once. */
  readonly pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    this.pass(ms);
    // Gives others of this process their turn, as a real wait would.
    await new Promise((resolve) => setImmediate(resolve));
  };
}

/** Holds a reservation for this long, as the store does (WR-20). */
const holdMs = 5000;

/** One request in a store whose time a test owns. What the scripts do on Redis is tested on Redis. */
export class MemoryDecisionStore implements DecisionStore {
  /** What is in memory is as durable as it will be. */
  confirm: () => Promise<void> = () => Promise.resolve();
  record: RequestRecord;
  readonly time: TestTime;
  readonly commits: Decision[] = [];
  held: { token: string; untilMs: number } | undefined;

  constructor(record: RequestRecord, time: TestTime) {
    this.record = record;
    this.time = time;
  }

  async get(_team: string, requestId: string): Promise<RequestRecord | undefined> {
    return requestId === this.record.requestId ? this.record : undefined;
  }

  async reserve({ requestId, planDigest, token }: ReserveCommand): Promise<ReserveResult> {
    const { nowMs } = this.time;
    if (requestId !== this.record.requestId) return { kind: 'absent' };
    if (this.record.state !== 'pending') return { kind: 'gone' };
    if (this.held && this.held.untilMs > nowMs) return { kind: 'busy', freeInMs: this.held.untilMs - nowMs };
    if (fromTimestamp(this.record.deadline) <= nowMs) {
      this.record = { ...this.record, state: 'timeout' };
      return { kind: 'gone' };
    }
    if (this.record.plan.digest !== planDigest) return { kind: 'stale' };
    this.held = { token, untilMs: nowMs + holdMs };
    return { kind: 'reserved', nowMs };
  }

  async commit({ token, decision }: CommitCommand): Promise<CommitResult> {
    this.commits.push(decision);
    const isHeld = this.held?.token === token && this.held.untilMs > this.time.nowMs;
    if (this.record.state !== 'pending' || !isHeld) return { kind: 'lapsed' };
    this.record = { ...this.record, state: decision.outcome, votes: [voteOf(decision)], decision };
    this.held = undefined;
    return { kind: 'committed' };
  }
}

/** What the store throws when Redis does not answer. */
export const noAnswer = () => new PlacetError('store_unavailable', 'no answer');
