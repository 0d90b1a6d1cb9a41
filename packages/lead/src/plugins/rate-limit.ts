import { fastifyRateLimit } from '@fastify/rate-limit';
import { PlacetError } from '@placet/protocol';
import type { FastifyInstance } from 'fastify';

/** How many principals are counted at once; beyond it the longest silent one is forgotten. */
const maxCounted = 10_000;

/**
 * Bounds the writing calls of each principal to `perMinute` (IN-24); 0 bounds nothing. Counts in this process only.
 * Must come after authentication.
 */
export async function registerRateLimit(app: FastifyInstance, perMinute: number): Promise<void> {
  if (perMinute === 0) return;
  await app.register(fastifyRateLimit, { global: false, cache: maxCounted });
  const check = app.createRateLimit({
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: ({ principal, ip }) => principal?.sub ?? ip,
  });
  app.addHook('onRequest', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD' || !request.principal) return;
    const limit = await check(request);
    if (!limit.isAllowed && limit.isExceeded)
      throw new PlacetError(
        'rate_limited',
        `${request.principal.sub} made more than ${perMinute} writing calls in a minute`,
        {
          retryAfterMs: limit.ttl,
        },
      );
  });
}
