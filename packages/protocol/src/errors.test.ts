import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCatalogue } from './error-catalogue.ts';
import { isPlacetError, PlacetError, parseOrThrow } from './errors.ts';

test.each([
  [400, ['validation_failed']],
  [401, ['unauthenticated']],
  [403, ['forbidden', 'self_approval_forbidden']],
  [404, ['not_found']],
  [409, ['already_decided', 'stale_plan', 'request_conflict', 'superseded']],
  [413, ['payload_too_large']],
  [422, ['plan_too_large_to_approve', 'mode_not_allowed', 'feedback_required', 'plan_required']],
  [429, ['rate_limited']],
  [503, ['store_unavailable']],
] as const)('[WR-30] status %i carries %j', (status, codes) => {
  for (const code of codes) expect(new PlacetError(code, 'x').status).toBe(status);
});

test('[WR-40] every exit code of an error is one of the contract', () => {
  for (const [code, entry] of Object.entries(errorCatalogue))
    expect([1, 2, 3, 4, 5, 6, 7, 8], code).toContain(entry.exitCode);
  expect(errorCatalogue.store_unavailable.exitCode).toBe(8);
  expect(errorCatalogue.unauthenticated.exitCode).toBe(7);
  expect(errorCatalogue.forbidden.exitCode).toBe(7);
});

test('[WR-30] a problem has the fields of RFC 9457 and ours, and leaves out what it does not have', () => {
  expect(
    new PlacetError('stale_plan', 'the plan changed', { current: { state: 'pending' } }).toProblem(),
  ).toEqual({
    type: 'urn:placet:error:stale_plan',
    title: errorCatalogue.stale_plan.title,
    status: 409,
    code: 'stale_plan',
    detail: 'the plan changed',
    current: { state: 'pending' },
  });
});

test('[WR-31] a value that does not fit names each fault with its path', () => {
  const schema = z.object({ a: z.object({ b: z.number() }), c: z.string() });
  const thrown = catchThrown(() => parseOrThrow(schema, { a: { b: 'x' } }, 'the body'));
  expect(isPlacetError(thrown, 'validation_failed') && thrown.issues?.map(({ path }) => path)).toEqual([
    'a.b',
    'c',
  ]);
});

function catchThrown(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}
