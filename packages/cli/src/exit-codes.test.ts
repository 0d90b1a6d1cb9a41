import { PlacetError } from '@placet/protocol';
import { expect, test } from 'vitest';
import { exitCodeOfError, exitCodeOfState, exitCodeOfTask } from './exit-codes.ts';

test.each([
  ['approved', 0],
  ['rejected', 3],
  ['timeout', 4],
  ['teleport', 5],
  ['withdrawn', 6],
  ['superseded', 6],
  ['pending', 4],
] as const)('[WR-40] a request that is %s exits with %i', (state, code) => {
  expect(exitCodeOfState(state)).toBe(code);
});

test.each([
  ['internal', 1],
  ['not_found', 1],
  ['usage', 2],
  ['validation_failed', 2],
  ['config_invalid', 2],
  ['unauthenticated', 7],
  ['forbidden', 7],
  ['self_approval_forbidden', 7],
  ['store_unavailable', 8],
  ['service_unreachable', 8],
] as const)('[WR-40] the error %s exits with %i', (code, exitCode) => {
  expect(exitCodeOfError(new PlacetError(code, 'x'))).toBe(exitCode);
});

test.each([
  ['done', undefined, 0],
  ['failed', 'agent_failed: exit code 3', 1],
  ['failed', undefined, 1],
  ['failed', 'plan_timeout', 4],
  ['failed', 'revisions_exhausted', 3],
  ['teleported', undefined, 5],
  ['withdrawn', undefined, 6],
] as const)('[WR-40] a task that ended %s (%s) exits with %i', (phase, reason, code) => {
  expect(exitCodeOfTask(phase, reason)).toBe(code);
});
