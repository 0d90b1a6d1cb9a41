import { exceeds, PlacetError, toTimestamp } from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { readOwnRequest, teammateOf } from './own-request.ts';
import type { Handlers } from './route.ts';

type WorkHandlers = Pick<
  Handlers,
  'claimWork' | 'sendReceipt' | 'settleWork' | 'reportPresence' | 'listPresence'
>;

/** The routes by which a teammate without Redis says how its work goes (4.5), and a lead sees who is alive (TM-12). */
export function workRoutes({ stores: { requests, presence }, clock, alarm }: LeadContext): WorkHandlers {
  return {
    claimWork: async ({ params: { team, id }, body, principal }) => {
      const teammate = teammateOf(principal);
      await readOwnRequest(requests, { team, id }, principal);
      const result = await requests.claim({ team, teammate, requestId: id }, body.holder, body.leaseMs);
      if (result.kind === 'busy')
        throw new PlacetError('session_busy', `another process holds the session of ${id}`, {
          retryAfterMs: result.freeInMs,
        });
      const { epoch, leftover } = result.lease;
      const record = await readOwnRequest(requests, { team, id }, principal);
      return {
        status: 200,
        body: { ...record, work: { ...record.work, epoch }, ...(leftover !== undefined && { leftover }) },
      };
    },

    sendReceipt: async ({ params: { team, id }, body, principal }) => {
      const name = { team, teammate: teammateOf(principal), requestId: id };
      await readOwnRequest(requests, { team, id }, principal);
      const record =
        body.kind === 'delivered'
          ? await requests.markDelivered(name)
          : await requests.markApplied(name, body.epoch, body.effectiveMode);
      const granted = record.decision?.permissionMode;
      if (body.kind === 'applied' && granted && exceeds(body.effectiveMode, granted))
        await alarm(record, 'mode_mismatch', `${body.effectiveMode} is in effect, ${granted} was granted`);
      return { status: 200, body: record };
    },

    settleWork: async ({ params: { team, id }, body, principal }) => {
      await readOwnRequest(requests, { team, id }, principal);
      return {
        status: 200,
        body: await requests.settle({ team, teammate: teammateOf(principal), requestId: id }, body),
      };
    },

    reportPresence: async ({ params: { team }, body, principal }) => {
      await presence.report(team, teammateOf(principal), body.process, body.ttlMs);
      return { status: 200, body: { lastSeen: toTimestamp(clock.now()) } };
    },

    listPresence: async ({ params: { team } }) => {
      const teammates = await presence.list(team);
      return {
        status: 200,
        body: { teammates: teammates.map((one) => ({ ...one, alive: one.processes > 0 })) },
      };
    },
  };
}
