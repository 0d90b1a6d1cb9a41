import { maxApprovablePlanChars } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { storedPlan } from '../plan/plan-storage.ts';
import { faultOfApprovedPlan, faultOfRejection, isApprovable, judgeSubmission } from './submission.ts';

const plan = storedPlan('# A plan\n');
const image = { digest: plan.digest, mediaType: 'image/png' } as const;

describe('submitting a plan', () => {
  it('[PM-70] outside plan mode keeps a draft', () => {
    expect(judgeSubmission({ mode: 'acceptEdits', kind: 'teammate', plan })).toEqual({ kind: 'draft' });
  });

  it.each([undefined, storedPlan(' \n\t')])(
    '[PM-71, TM-3] needs one of a teammate, not of a main thread',
    (empty) => {
      expect(judgeSubmission({ mode: 'plan', kind: 'teammate', plan: empty })).toMatchObject({
        code: 'plan_required',
      });
      expect(judgeSubmission({ mode: 'plan', kind: 'main', plan: empty })).toEqual({ kind: 'empty' });
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

  it('[PM-79] passes where the plan is good', () => {
    expect(faultOfApprovedPlan(plan)).toBeUndefined();
  });
});

describe('a rejection', () => {
  it.each([{}, { feedback: '' }, { feedback: ' \n' }, { images: [] }])('[PM-76] with %j is none', (given) => {
    expect(faultOfRejection({ outcome: 'rejected', ...given })).toMatchObject({ code: 'feedback_required' });
  });

  it('[PM-76] needs text or an image, at most ten', () => {
    expect(faultOfRejection({ outcome: 'rejected', feedback: 'skip docs' })).toBeUndefined();
    expect(faultOfRejection({ outcome: 'rejected', images: [image] })).toBeUndefined();
    expect(
      faultOfRejection({ outcome: 'rejected', images: Array.from({ length: 11 }, () => image) }),
    ).toMatchObject({
      code: 'payload_too_large',
    });
  });

  it('[PM-76] is what the rule is about, not an approval', () => {
    expect(faultOfRejection({ outcome: 'approved' })).toBeUndefined();
  });
});
