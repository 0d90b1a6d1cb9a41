import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { LeadMetrics } from '../metrics.ts';

const PathNames = z.looseObject({ team: z.string().optional(), id: z.string().optional() });

/** Measures each answer, and logs it with its team and request (OP-5). Bodies, tokens and queries are not logged. */
export function registerHttpMetrics(app: FastifyInstance, metrics: LeadMetrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, principal } = request;
    const route = routeOptions.config.routeName ?? 'other';
    const status = reply.statusCode;
    metrics.httpSeconds.observe({ route, method, status: String(status) }, reply.elapsedTime / 1000);
    const names = PathNames.safeParse(request.params).data;
    const about = {
      route,
      status,
      ms: Math.round(reply.elapsedTime),
      ...(names?.team && { team: names.team }),
      ...(names?.id && { requestId: names.id }),
      ...(principal && { principal: principal.sub }),
    };
    request.log[status >= 500 ? 'warn' : 'debug'](about, 'answered');
  });
}
