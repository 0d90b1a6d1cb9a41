import type { EventHub, WaitResult } from '@placet/mailbox';
import type { RequestRecord, Submission, TokenClaims } from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { isVisible, noRequest, readOwnRequest, teammateOf } from './own-request.ts';
import type { Handlers } from './route.ts';
import { type Watch, watchEnd } from './watch-end.ts';

type RequestHandlers = Pick<
  Handlers,
  'submitRequest' | 'listRequests' | 'showRequest' | 'readPlan' | 'awaitDecision' | 'withdrawRequest'
>;

/** The routes by which plans are submitted, read, waited for and taken back. */
export function requestRoutes(context: LeadContext): RequestHandlers {
  const { requests } = context.stores;
  return {
    submitRequest: ({ params, body, principal }) => submit(context, params.team, body, principal),

    listRequests: async ({ params, query }) => ({
      status: 200,
      body: await requests.list(params.team, query),
    }),

    showRequest: async ({ params, principal }) => {
      const record = await requests.getWithPlan(params.team, params.id);
      if (!record || !isVisible(record, principal)) throw noRequest(params);
      return { status: 200, body: record };
    },

    readPlan: async ({ params, principal, request }) => {
      const { plan } = await readOwnRequest(requests, params, principal);
      const headers = { etag: `"${plan.digest}"`, 'cache-control': 'private, no-cache' };
      if (matches(request.headers['if-none-match'], plan.digest)) return { status: 304, headers };
      const bytes = await requests.planBytes(params.team, plan.digest);
      if (!bytes) throw noRequest(params); // purged between the two reads
      return { status: 200, type: 'text/markdown; charset=utf-8', headers, body: Buffer.from(bytes) };
    },

    awaitDecision: ({ params, query, principal, request }) =>
      awaitEnd(context, {
        ...params,
        principal,
        timeoutMs: query.timeoutMs,
        end: watchEnd(request.raw.socket, context.stopping),
      }),

    withdrawRequest: async ({ params, principal, request }) => {
      const teammate = teammateOf(principal);
      await readOwnRequest(requests, params, principal);
      const record = await requests.withdraw({ team: params.team, teammate, requestId: params.id });
      context.metrics.requests.inc({ outcome: 'withdrawn' });
      request.log.info(about(record), 'a request was withdrawn');
      return { status: 200, body: record };
    },
  };
}

async function submit(context: LeadContext, team: string, submission: Submission, principal: TokenClaims) {
  const teammate = teammateOf(principal);
  const { deadline, deadlineMs } = submission;
  const { kind, record } = await context.stores.requests.submit({
    team,
    teammate,
    owner: principal.owner ?? principal.sub,
    ownerProof: principal.ownerProof,
    submission:
      deadline || deadlineMs ? submission : { ...submission, deadlineMs: context.config.deadlineMs },
    policyDigest: context.policyDigest,
  });
  const headers = { location: `/v1/teams/${team}/requests/${encodeURIComponent(record.requestId)}` };
  if (kind !== 'created') return { status: 200 as const, body: record, headers };
  context.metrics.requests.inc({ outcome: 'submitted' });
  context.log.info(about(record), 'a plan was submitted');
  return { status: 201 as const, body: record, headers };
}

interface Wait {
  team: string;
  id: string;
  principal: TokenClaims;
  timeoutMs: number;
  end: Watch;
}

async function awaitEnd(context: LeadContext, { team, id, principal, timeoutMs, end }: Wait) {
  const { stores, metrics, stopping } = context;
  const streams = metrics.streams.labels({ kind: 'wait' });
  streams.inc();
  try {
    const seen = await readOwnRequest(stores.requests, { team, id }, principal);
    if (seen.state !== 'pending') return { status: 200 as const, body: seen };
    const waited = stopping.aborted ? undefined : await waitFor(stores.hub, { team, id, timeoutMs, end });
    if (waited?.kind === 'absent') throw noRequest({ team, id });
    if (waited?.kind === 'ended') return { status: 200 as const, body: waited.record };
    return { status: 202 as const, body: waited?.record ?? seen };
  } finally {
    end.release();
    streams.dec();
  }
}

/** Undefined when the client left or the service stops, which ends the wait without an answer of its own. */
async function waitFor(
  hub: EventHub,
  { team, id, timeoutMs, end }: Omit<Wait, 'principal'>,
): Promise<WaitResult | undefined> {
  try {
    return await hub.waitForRequest(team, id, timeoutMs, end.signal);
  } catch (error) {
    if (end.signal.aborted) return undefined;
    throw error;
  }
}

/** Whether an `If-None-Match` names the digest. */
function matches(header: string | undefined, digest: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => ['*', `"${digest}"`].includes(tag.trim().replace(/^W\//, '')));
}

/** What the log says of a request (OP-5). */
export function about({ team, teammate, requestId, sessionId }: RequestRecord) {
  return { team, teammate, requestId, sessionId };
}
