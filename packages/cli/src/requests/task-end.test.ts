import type { TeamEvent } from '@placet/protocol';
import { expect, test } from 'vitest';
import { taskEndOf } from './task-end.ts';

const event = (fields: object): TeamEvent => ({
  id: '1-0',
  at: '2026-01-01T00:00:00.000Z',
  team: 'main',
  type: 'work',
  ...fields,
});

test.each([
  [{ type: 'task:phase', phase: 'awaiting_approval' }, undefined],
  [
    { type: 'task:phase', phase: 'failed', reason: 'plan_timeout' },
    { phase: 'failed', reason: 'plan_timeout' },
  ],
  [
    { type: 'task:phase', phase: 'withdrawn' },
    { phase: 'withdrawn', reason: undefined },
  ],
  [{ state: 'claimed' }, undefined],
  [{ state: 'done' }, { phase: 'done', reason: undefined }],
  [
    { state: 'failed', reason: 'agent_failed' },
    { phase: 'failed', reason: 'agent_failed' },
  ],
  [{ type: 'task:phase', phase: 'unheard_of' }, undefined],
])('%j ends a task as %j', (fields, end) => {
  expect(taskEndOf(event(fields))).toEqual(end);
});

test('[TM-13] work on a workspace that moved ends nothing where it is planned again', () => {
  const moved = event({ state: 'failed', reason: 'base_moved' });
  expect(taskEndOf(moved, { replans: true })).toBeUndefined();
  expect(taskEndOf(moved)).toMatchObject({ phase: 'failed' });
});
