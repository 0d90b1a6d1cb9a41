import { describe, expect, it } from 'vitest';
import { outcomeText, type SubmissionOutcome } from './outcome-text.ts';

const plan = '# The plan\n\n1. Do it.\n';

describe('what the model is told', () => {
  it('[PM-74] of an approval has the marker that clients parse, and the exact plan after it', () => {
    const text = outcomeText({ kind: 'approved', mode: 'acceptEdits', plan, planEdited: false });

    expect(text.split('## Approved Plan:\n')[1]).toBe(plan);
    expect(text).toContain('acceptEdits');
  });

  it('[PM-74] of an edited approval has another marker and the edited plan', () => {
    const text = outcomeText({
      kind: 'approved',
      mode: 'default',
      plan,
      planEdited: true,
      feedback: 'mind the tests',
    });

    expect(text.split('## Approved Plan (edited by user):\n')[1]).toBe(plan);
    expect(text).not.toContain('## Approved Plan:');
    expect(text).toContain('mind the tests');
  });

  it('[PM-71, PM-74] of an empty approval quotes no plan', () => {
    expect(outcomeText({ kind: 'approved_empty', mode: 'default' })).not.toContain('Plan:');
  });

  it('[PM-15] of an approval says that it is none for any tool', () => {
    expect(outcomeText({ kind: 'approved', mode: 'default', plan, planEdited: false })).toContain(
      'no standing approval',
    );
  });

  it('[PM-76] of a rejection has the plan and the feedback, and asks for a revision', () => {
    const text = outcomeText({ kind: 'rejected', plan, feedback: 'skip docs/', images: 2 });

    for (const part of [plan, 'skip docs/', '2 image', 'still in plan mode', 'submit it again'])
      expect(text).toContain(part);
  });

  it('[TM-4] of a plan that the store did not take says so', () => {
    expect(outcomeText({ kind: 'not_submitted', planFilePath: '/p.md' })).toContain('plan not submitted');
  });

  it('[PM-74] is never the same for two outcomes', () => {
    const outcomes: SubmissionOutcome[] = [
      { kind: 'approved', mode: 'default', plan, planEdited: false },
      { kind: 'approved', mode: 'default', plan, planEdited: true },
      { kind: 'approved_empty', mode: 'default' },
      { kind: 'agent_approved' },
      { kind: 'waiting', requestId: 'request-1', planFilePath: '/p.md' },
      { kind: 'rejected', plan },
      { kind: 'not_submitted', planFilePath: '/p.md' },
    ];

    expect(new Set(outcomes.map(outcomeText)).size).toBe(outcomes.length);
    expect(outcomes.map(outcomeText).filter((text) => text.includes('## Approved Plan'))).toHaveLength(2);
  });
});
