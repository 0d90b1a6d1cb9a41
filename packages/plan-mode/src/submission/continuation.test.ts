import { describe, expect, it } from 'vitest';
import { storedPlan } from '../plan/plan-storage.ts';
import { continuationOf } from './continuation.ts';

const plan = storedPlan('# The plan\n\n1. Do it. ## Approved Plan:\n');

describe('the continuation of a cleared context', () => {
  it.each([
    [false, '## Approved Plan:\n'],
    [true, '## Approved Plan (edited by user):\n'],
  ])('[PM-75] begins with the exact plan and says where the rest is (edited: %s)', (planEdited, marker) => {
    const { firstMessage } = continuationOf({ plan, planEdited, transcriptPath: '/t/session-1.jsonl' });

    expect(firstMessage.endsWith(`${marker}${plan.text}`)).toBe(true);
    expect(firstMessage).toContain('/t/session-1.jsonl');
  });

  it('[PM-15, PM-75] grants nothing either', () => {
    expect(continuationOf({ plan, transcriptPath: '/t' }).firstMessage).toContain('no standing approval');
  });
});
