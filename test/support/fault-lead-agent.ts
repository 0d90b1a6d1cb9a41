import { setTimeout as pause } from 'node:timers/promises';
import { ErrorCode, Problem, type RequestRecord } from '@placet/protocol';
import type { HttpCaller } from './fault-http.ts';
import type { FaultWorld } from './fault-world.ts';

/** What an automatic lead decides of a plan. */
type Judge = (record: RequestRecord) => Record<string, unknown>;

/** How an automatic lead works. */
export interface LeadAgentOptions {
  world: FaultWorld;
  http: HttpCaller;
  token: string;
  /** Where a lead service is to be found now; asked anew for each attempt. */
  url: () => Promise<string>;
  judge: Judge;
  signal: AbortSignal;
}

const retryPauseMs = 50;
const lookEveryMs = 100;

/**
 * Decides every pending plan over HTTP, in the same words again where the answer was lost, until `signal` aborts.
 * @throws Error for an answer that no lead should get
 */
export async function decideAutomatically(options: LeadAgentOptions): Promise<void> {
  const { world, signal } = options;
  const begun = new Set<string>();
  const deciding = new Set<Promise<void>>();
  while (!signal.aborted) {
    const { requests } = await world.mailbox.requests.list(world.team, { state: 'pending', limit: 200 });
    for (const record of requests) {
      if (begun.has(record.requestId)) continue;
      begun.add(record.requestId);
      const decision = decide(options, record).finally(() => deciding.delete(decision));
      deciding.add(decision);
    }
    await Promise.race([pause(lookEveryMs), ...deciding]);
  }
  await Promise.all(deciding);
}

async function decide(options: LeadAgentOptions, record: RequestRecord): Promise<void> {
  const { world, http, token, judge, signal } = options;
  const body = { planDigest: record.plan.digest, ...judge(record) };
  const path = `/v1/teams/${world.team}/requests/${encodeURIComponent(record.requestId)}/decision`;
  while (!signal.aborted) {
    const answer = await http
      .post((await options.url()) + path, { token, body })
      // The service was killed before it answered: the same call again tells (WR-21).
      .catch(() => undefined);
    if (answer?.status === 200) return;
    const code = answer && ErrorCode.parse(Problem.parse(JSON.parse(answer.text)).code);
    if (code === 'superseded') return;
    if (code && code !== 'store_unavailable')
      throw new Error(`deciding ${record.requestId} was answered with ${answer.text}`);
    await pause(retryPauseMs);
  }
}
