import {
  type ErrorCode,
  isPlacetError,
  newRequestId,
  newSessionId,
  type RequestRecord,
} from '@placet/protocol';
import { type LeadProcess, submitPlan } from '../../support/decision-world.ts';

/** Requests that are submitted and decided one after the other, through whatever happens to the store meanwhile. */
export interface Traffic {
  /** Those whose decision was acknowledged. */
  readonly acknowledged: readonly RequestRecord[];
  /** What calls failed with before they were repeated. */
  readonly codes: ReadonlySet<string>;
  /** Ends with the request at hand. */
  stop(): Promise<void>;
}

const patience: readonly ErrorCode[] = ['store_unavailable', 'not_durable'];

/** Repeats a call for as long as the store is away or a replica is missing, as every caller may. */
export async function insist<Result>(
  call: () => Promise<Result>,
  codes: Set<string> = new Set(),
): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPlacetError(error, ...patience)) throw error;
      codes.add(error.code);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Starts it for a team. */
export function startTraffic(lead: LeadProcess, team: string): Traffic {
  const acknowledged: RequestRecord[] = [];
  const codes = new Set<string>();
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      const names = { requestId: newRequestId('worker', team), sessionId: newSessionId() };
      const record = await insist(() => submitPlan(lead.mailbox, team, names), codes);
      await insist(() => lead.decide(record), codes);
      acknowledged.push(record);
    }
  };
  const done = run();
  done.catch(() => undefined); // told to whoever stops it
  const stop = () => {
    stopped = true;
    return done;
  };
  return { acknowledged, codes, stop };
}
