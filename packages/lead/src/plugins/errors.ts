import { type Issue, isPlacetError, PlacetError } from '@placet/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { LeadMetrics } from '../metrics.ts';
import { boundedIssues } from './issues.ts';

/** The media type of every error (RFC 9457). */
export const problemType = 'application/problem+json; charset=utf-8';

/** How long a client is told to wait where nobody knows better, in milliseconds. */
const defaultRetryAfterMs = 1000;

/** Answers every error as a problem of the catalogue (2.4): ours, Fastify's and the unexpected. */
export function registerErrors(app: FastifyInstance, metrics: LeadMetrics): void {
  const answer = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = toPlacetError(thrown);
    metrics.refusals.inc({ code: error.code });
    if (error.code === 'store_unavailable') metrics.storeErrors.inc();
    log(request, error, thrown);
    return sendProblem(reply, error);
  };
  app.setErrorHandler(answer);
  app.setNotFoundHandler((request, reply) =>
    answer(
      new PlacetError('not_found', `there is no route ${request.method} ${request.url.split('?')[0]}`),
      request,
      reply,
    ),
  );
}

/** Writes a problem as the answer. */
export function sendProblem(reply: FastifyReply, error: PlacetError): FastifyReply {
  if (error.code === 'unauthenticated' && !reply.hasHeader('www-authenticate'))
    reply.header('www-authenticate', 'Bearer realm="placet"');
  if (error.retryable && error.status >= 429)
    reply.header(
      'retry-after',
      String(Math.max(1, Math.ceil((error.retryAfterMs ?? defaultRetryAfterMs) / 1000))),
    );
  return reply.code(error.status).type(problemType).serializer(JSON.stringify).send(error.toProblem());
}

/** Turns whatever was thrown while a call was answered into an error of the catalogue; what it cannot name is `internal`. */
export function toPlacetError(thrown: unknown): PlacetError {
  if (isPlacetError(thrown)) return thrown;
  if (hasZodFastifySchemaValidationErrors(thrown))
    return invalid(thrown.validationContext, thrown.validation);
  if (isFastifyError(thrown)) {
    if (thrown.statusCode === 413)
      return new PlacetError('payload_too_large', 'the body is larger than 4 MiB');
    const known = fastifyFaults[thrown.code];
    if (known)
      return new PlacetError('validation_failed', `${known.path} ${known.message}`, { issues: [known] });
    if (thrown.statusCode !== undefined && thrown.statusCode >= 400 && thrown.statusCode < 500)
      return new PlacetError('validation_failed', 'the call is not valid');
  }
  if (isClientFault(thrown)) return new PlacetError('validation_failed', 'the call is not valid');
  return new PlacetError('internal', 'something is broken here; the log has it under this request', {
    cause: thrown,
  });
}

const fastifyFaults: Record<string, Issue | undefined> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { path: '(content-type)', message: 'must be application/json' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { path: '(content-length)', message: 'is not the length of the body' },
  FST_ERR_BAD_URL: { path: '(url)', message: 'is not percent-encoded UTF-8' },
};

interface ZodFault {
  instancePath: string;
  message?: string;
}

function invalid(context: string | undefined, faults: ZodFault[]): PlacetError {
  const issues = boundedIssues(
    faults.map(({ instancePath, message = 'is not valid' }) => ({
      path: instancePath.slice(1).replaceAll('/', '.') || '(root)',
      message,
    })),
  );
  const [first] = issues;
  return new PlacetError(
    'validation_failed',
    `the ${partNames[context ?? ''] ?? 'call'} is not valid: ${first?.path}: ${first?.message}`,
    { issues },
  );
}

const partNames: Record<string, string | undefined> = { body: 'body', params: 'path', querystring: 'query' };

function isFastifyError(thrown: unknown): thrown is FastifyError {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    typeof thrown.code === 'string' &&
    thrown.code.startsWith('FST_')
  );
}

/** What Node and the libraries under Fastify throw for a call that ends early or makes no sense. */
function isClientFault(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'statusCode' in thrown &&
    typeof thrown.statusCode === 'number' &&
    thrown.statusCode >= 400 &&
    thrown.statusCode < 500
  );
}

function log(request: FastifyRequest, error: PlacetError, thrown: unknown): void {
  if (error.code === 'internal') request.log.error({ err: thrown, code: error.code }, 'a call failed');
  else
    request.log[error.status >= 500 ? 'warn' : 'info'](
      { code: error.code, detail: error.message },
      'a call was refused',
    );
}
