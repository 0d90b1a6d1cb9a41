import { digestOfText, WorkingMode } from '@placet/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { storedPlan } from '../plan/plan-storage.ts';
import { actor, claimsOf, command, leave, refusalOf, workingMode } from './session-model.test.fixture.ts';

/** Submissions of the stored plan. */
export const submits = fc.constant(
  command('submit', async (model, { session, plan }) => {
    const { kind } = model.setup;
    const verdict = await session.submit();
    if (model.mode !== 'plan') {
      expect(verdict.kind).toBe('draft');
      return;
    }
    if (plan.text === '' && kind === 'teammate') {
      expect(verdict).toMatchObject({ code: 'plan_required' });
      return;
    }
    model.revision += 1;
    const about = { digest: digestOfText(plan.text), text: plan.text, revision: model.revision };
    model.waiting = kind === 'teammate' ? { ...about, requestId: `request-${model.revision}` } : about;
    const { requestId, revision } = model.waiting;
    if (requestId) session.submitted({ requestId, planDigest: digestOfText(plan.text), revision });
  }),
);

/** Approvals of the stored plan. */
export const approvals = fc
  .record({
    who: actor,
    mode: fc.option(fc.constantFrom(...WorkingMode.options, 'restore' as const), { nil: undefined }),
    edited: fc.boolean(),
    stale: fc.boolean(),
  })
  .map(({ who, mode, edited, stale }) =>
    command(
      `approve by ${who}: ${mode}${edited ? ', edited' : ''}${stale ? ', stale' : ''}`,
      async (model, real) => {
        const { session, plan } = real;
        real.wrote += 1;
        const text = edited ? `# edit ${real.wrote}\n` : plan.text;
        const before = plan.text;
        const waiting = model.mode === 'plan' ? model.waiting : undefined;
        const refused =
          refusalOf(model, who) ??
          (model.mode !== 'plan'
            ? 'not_planning'
            : waiting?.requestId
              ? 'approval_required'
              : stale || (waiting && waiting.text !== before)
                ? 'stale_plan'
                : text === '' && model.setup.kind !== 'main'
                  ? 'plan_required'
                  : mode === 'bypassPermissions' && !model.setup.bypass
                    ? 'mode_not_allowed'
                    : undefined);
        const outcome = await session.approve(who, {
          ...(mode && { mode }),
          ...(edited && { plan: text }),
          ...(stale && { planDigest: digestOfText('another') }),
        });
        expect('code' in outcome ? outcome.code : undefined).toBe(refused);
        expect(plan.text).toBe(refused ? before : text);
        if (refused) return;
        leave(model, mode ?? 'restore');
        model.waiting = undefined;
      },
    ),
  );

/** Rejections of the stored plan. */
export const rejections = fc.record({ who: actor, empty: fc.boolean() }).map(({ who, empty }) =>
  command(`reject by ${who}${empty ? ' without a word' : ''}`, async (model, { session, plan }) => {
    const before = plan.text;
    const outcome = await session.reject(who, empty ? { feedback: ' ' } : { feedback: 'again' });
    const refused =
      who !== 'user'
        ? 'forbidden'
        : model.mode !== 'plan'
          ? 'not_planning'
          : model.waiting?.requestId
            ? 'approval_required'
            : empty
              ? 'feedback_required'
              : undefined;
    expect('code' in outcome ? outcome.code : undefined).toBe(refused);
    expect(plan.text).toBe(before);
    if (!refused) model.waiting = undefined;
  }),
);

/** Decisions that were verified, about the waiting request or about another one. */
export const decisions = fc
  .record({
    fault: fc.constantFrom('none', 'none', 'none', 'request', 'plan', 'revision', 'content'),
    outcome: fc.constantFrom('approved' as const, 'approved' as const, 'rejected' as const),
    mode: workingMode,
    edited: fc.boolean(),
  })
  .map(({ fault, outcome, mode, edited }) =>
    command(`decide ${outcome} ${mode}, fault ${fault}${edited ? ', edited' : ''}`, async (model, real) => {
      const { session, plan } = real;
      real.wrote += 1;
      const { waiting } = model;
      const before = plan.text;
      const text = edited ? `# edit ${real.wrote}\n` : (waiting?.text ?? before);
      const claims = claimsOf({
        requestId: fault === 'request' ? 'request-0' : (waiting?.requestId ?? 'request-1'),
        planDigest: digestOfText(fault === 'plan' ? 'another' : (waiting?.text ?? before)),
        revision: (waiting?.revision ?? 1) + (fault === 'revision' ? 1 : 0),
        approvedPlanDigest: digestOfText(fault === 'content' ? 'another' : text),
        permissionMode: mode,
        outcome,
      });
      const given = await session.decide(claims, { plan: storedPlan(text), feedback: 'so be it' });
      const isAbout = model.mode === 'plan' && waiting?.requestId !== undefined;
      const isVoid = fault !== 'none' && (fault !== 'content' || outcome === 'approved');
      if (!isAbout || isVoid) {
        expect(given).toMatchObject({ kind: 'refused', code: 'decision_invalid' });
        expect(plan.text).toBe(before);
      } else if (outcome === 'rejected') {
        expect(given.kind).toBe('rejected');
        model.waiting = undefined;
      } else {
        expect(given.kind).toBe('opened');
        expect(plan.text).toBe(text);
        leave(model, mode);
      }
    }),
  );
