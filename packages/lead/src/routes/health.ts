import { isPlacetError } from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { measureInboxes } from '../services/measure-inboxes.ts';
import type { Handlers } from './route.ts';

/** What the service says of itself: keys, health, metrics. */
export function healthRoutes(
  context: LeadContext,
): Pick<Handlers, 'jwks' | 'healthz' | 'readyz' | 'metrics'> {
  const { keyRing, metrics, stores, stopping } = context;
  return {
    jwks: async () => ({ status: 200, body: { ...(await keyRing.jwks()) } }),

    healthz: async () => ({ status: 200, body: { status: 'ok' } }),

    readyz: async () => {
      if (stopping.aborted) return { status: 503, body: { status: 'unavailable', reason: 'stopping' } };
      try {
        // A call with an answer from the store: a connection that is open says nothing (a paused Redis keeps it).
        await stores.teams.list();
        return { status: 200, body: { status: 'ok', store: 'ready' } };
      } catch (error) {
        if (!isPlacetError(error)) throw error;
        return { status: 503, body: { status: 'unavailable', store: 'down', code: error.code } };
      }
    },

    metrics: async () => {
      await measureInboxes(context);
      return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() };
    },
  };
}
