import { findUnsafeJson, maxJsonDepth, maxPlanBytes, PlacetError } from '@placet/protocol';
import type { FastifyInstance } from 'fastify';
import { findDuplicateKeys, isAbyss, isCrowd, maxJsonValues } from '../json-text.ts';
import { boundedIssues } from './issues.ts';

/** The longest body, in bytes (WR-31). */
export const maxBodyBytes = 4 * 1024 * 1024;

/**
 * Takes JSON in UTF-8 and nothing else, and refuses what no body of ours may hold, known field or not (WR-31):
 * malformed JSON, invalid UTF-8, a key twice, NUL characters, lone surrogates, prototype keys, deep nesting, a
 * multitude of values.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    try {
      done(null, bytes.length === 0 ? undefined : parseBody(bytes));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
  app.addHook('preValidation', async ({ query, body }) => {
    refuseFaults(findUnsafeJson(query));
    refuseLongPlan(body);
  });
}

/** @throws PlacetError `validation_failed` with the path of each fault */
export function parseBody(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  if (isAbyss(text))
    throw refusal([{ path: '(body)', message: `is nested deeper than ${maxJsonDepth} levels` }]);
  if (isCrowd(text)) throw refusal([{ path: '(body)', message: `holds more than ${maxJsonValues} values` }]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the body, which may be a plan.
    throw refusal([{ path: '(body)', message: 'is not JSON' }]);
  }
  refuseFaults(findUnsafeJson(value));
  refuseFaults(findDuplicateKeys(text));
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal([{ path: '(body)', message: 'is not UTF-8' }]);
  }
}

function refuseFaults(issues: { path: string; message: string }[]): void {
  if (issues.length > 0) throw refusal(issues);
}

function refusal(faults: { path: string; message: string }[]): PlacetError {
  const issues = boundedIssues(faults);
  const [first] = issues;
  return new PlacetError('validation_failed', `the call is not valid: ${first?.path} ${first?.message}`, {
    issues,
  });
}

/** Said apart from other faults of shape, for a plan that is too large is no malformed one. */
function refuseLongPlan(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('planContent' in body)) return;
  const { planContent } = body;
  if (typeof planContent === 'string' && Buffer.byteLength(planContent) > maxPlanBytes)
    throw new PlacetError('payload_too_large', `planContent has more than ${maxPlanBytes} bytes`, {
      issues: [{ path: 'planContent', message: `must be at most ${maxPlanBytes} bytes of UTF-8` }],
    });
}
