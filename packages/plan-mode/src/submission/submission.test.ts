import { maxApprovablePlanChars } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { storedPlan } from '../plan/plan-storage.ts';
import { faultOfApprovedPlan, isApprovable, judgeSubmission } from './submission.ts';

const plan = storedPlan('# A plan\n');

describe('submitting a plan', () => {
  it('[PM-70] outside plan mode keeps a draft', () => {
    expect(judgeSubmission({ mode: 'acceptEdits', kind: 'teammate', plan })).toEqual({ kind: 'draft', plan });
  });

  it('[PM-70] by ExitPlanMode outside plan mode fails, and says to enter first', () => {
    const verdict = judgeSubmission({ mode: 'default', kind: 'main', plan, tool: 'ExitPlanMode' });

    expect(verdict).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining('enter it first'),
    });
  });

  it.each([
    [{ planDigest: plan.digest, requestId: 'request-1' }, 'request-1'],
    [{ planDigest: plan.digest }, plan.digest],
  ])('[PM-70] by ExitPlanMode under an approval names it', (approval, name) => {
    const verdict = judgeSubmission({ mode: 'default', kind: 'main', plan, tool: 'ExitPlanMode', approval });

    expect(verdict).toMatchObject({ code: 'validation_failed', detail: expect.stringContaining(name) });
    expect(verdict).toMatchObject({ detail: expect.stringContaining('go on under it') });
  });

  it.each([undefined, storedPlan(' \n\t')])(
    '[PM-71, TM-3] needs one of a teammate, not of a main thread',
    (empty) => {
      expect(judgeSubmission({ mode: 'plan', kind: 'teammate', plan: empty })).toMatchObject({
        code: 'plan_required',
      });
      expect(judgeSubmission({ mode: 'plan', kind: 'agent', plan: empty })).toMatchObject({
        code: 'plan_required',
      });
      expect(judgeSubmission({ mode: 'plan', kind: 'main', plan: empty })).toMatchObject({ kind: 'empty' });
    },
  );

  it('[PM-72] takes one that is too large to be approved, and says so', () => {
    const most = storedPlan('x'.repeat(maxApprovablePlanChars));
    const over = storedPlan('x'.repeat(maxApprovablePlanChars + 1));

    expect(judgeSubmission({ mode: 'plan', kind: 'teammate', plan: most })).toMatchObject({
      approvable: true,
    });
    expect(judgeSubmission({ mode: 'plan', kind: 'teammate', plan: over })).toMatchObject({
      kind: 'submit',
      approvable: false,
    });
  });

  it('[PM-72] counts as JavaScript counts', () => {
    expect(isApprovable('😀'.repeat(maxApprovablePlanChars / 2))).toBe(true);
    expect(isApprovable(`${'😀'.repeat(maxApprovablePlanChars / 2)}x`)).toBe(false);
  });
});

describe('an edited approval', () => {
  it.each([
    ['', 'plan_required'],
    ['x'.repeat(maxApprovablePlanChars + 1), 'plan_too_large_to_approve'],
    ['a\0b', 'validation_failed'],
    ['a\ud800b', 'validation_failed'],
  ])('[PM-79] is held to the rules of a submission', (text, code) => {
    expect(faultOfApprovedPlan(storedPlan(text))).toMatchObject({ code });
  });

  it('[PM-71, PM-79] may be empty of a main thread only', () => {
    expect(faultOfApprovedPlan(storedPlan(' '), 'main')).toBeUndefined();
    expect(faultOfApprovedPlan(storedPlan(' '), 'agent')).toMatchObject({ code: 'plan_required' });
  });

  it('[PM-79] passes where the plan is good', () => {
    expect(faultOfApprovedPlan(plan)).toBeUndefined();
  });
});
