import type { FastifyInstance } from 'fastify';

const headers = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  // Nothing here is a page; the documentation sets a policy of its own.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Answers tell browsers to guess, frame, run and keep nothing. */
export function registerSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers);
  });
}
