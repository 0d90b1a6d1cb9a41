import type { Socket } from 'node:net';
import { PlacetError } from '@placet/protocol';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { LeadMetrics } from './metrics.ts';
import { problemType, registerErrors, sendProblem, toPlacetError } from './plugins/errors.ts';
import { maxBodyBytes, registerJsonBody } from './plugins/json-body.ts';
import { registerSecurityHeaders } from './plugins/security-headers.ts';

/** How long a client may take to send a call, in milliseconds. */
const requestTimeoutMs = 30_000;
/** The longest parameter of a path as it is sent: a request ID of 256 characters, each percent-encoded. */
const maxParamLength = 3 * 256;

/** What a bare HTTP application is made with. */
export interface HttpAppOptions {
  log: FastifyBaseLogger;
  metrics: LeadMetrics;
  /** In bytes; 4 MiB unless set. */
  bodyLimit?: number;
}

/** Makes a Fastify application without routes that takes and refuses calls as the contract says (WR-30, WR-31). */
export function createHttpApp({ log, metrics, bodyLimit = maxBodyBytes }: HttpAppOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength },
    // A HEAD of the event stream would never end.
    exposeHeadRoutes: false,
    // While it stops, calls in flight and those on open connections are answered, and their connections end.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => {
      void sendProblem(reply, toPlacetError(error));
    },
    clientErrorHandler: (error, socket) => refuseGarbage(error, socket),
  });
  app.setValidatorCompiler(validatorCompiler);
  // Answers are of their types already; holding each to its schema once more would double what a decision costs here.
  app.setSerializerCompiler(() => JSON.stringify);
  registerSecurityHeaders(app);
  registerErrors(app, metrics);
  registerJsonBody(app);
  return app;
}

/** Answers what is no HTTP at all, or more header than Node takes. */
function refuseGarbage(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = JSON.stringify(
    new PlacetError('validation_failed', 'this is not an HTTP call that can be read').toProblem(),
  );
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: ${problemType}\r\ncontent-length: ${Buffer.byteLength(problem)}\r\nconnection: close\r\n\r\n${problem}`,
  );
}
