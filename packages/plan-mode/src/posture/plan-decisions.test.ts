import { digestOfText, maxApprovablePlanChars, PlacetError } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { continuationOf } from '../submission/continuation.ts';
import { MemoryPlan, planningSession } from './session-model.test.fixture.ts';

const planText = '# plan 0\n';
const write = { tool: 'Write', source: 'builtin' } as const;

describe('submitting', () => {
  it('[PM-70, PM-78] in plan mode has the plan wait, and tells of it', async () => {
    const { session, events } = planningSession();

    expect(await session.submit('ExitPlanMode')).toMatchObject({ kind: 'submit', approvable: true });
    expect(session.awaitingPlanApproval).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: 'plan:proposed',
      planDigest: digestOfText(planText),
      revision: 1,
    });
  });

  it('[PM-70] outside plan mode keeps a draft and changes nothing', async () => {
    const { session, events } = planningSession({ mode: 'acceptEdits' });

    expect(await session.submit()).toMatchObject({ kind: 'draft', plan: { text: planText } });
    expect([session.mode, session.awaitingPlanApproval, events.length]).toEqual(['acceptEdits', false, 1]);
  });

  it('[PM-70] by ExitPlanMode under an approval names the plan that it is of', async () => {
    const { session } = planningSession();
    await session.approve('user');

    expect(await session.submit('ExitPlanMode')).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining(digestOfText(planText)),
    });
  });

  it('[TM-3, PM-71] without a plan is refused a teammate and changes nothing', async () => {
    const { session, plan, events } = planningSession({ kind: 'teammate' });
    plan.text = '';

    expect(await session.submit()).toMatchObject({ code: 'plan_required' });
    expect([session.mode, session.awaitingPlanApproval, events.length]).toEqual(['plan', false, 1]);
  });

  it('[PM-70, I6] of what cannot be read is refused with the reason', async () => {
    const { session } = planningSession({
      planStorage: {
        load: () => Promise.reject(new PlacetError('validation_failed', 'the plan is not UTF-8')),
        save: () => Promise.reject(new Error('unused')),
      },
    });

    expect(await session.submit()).toMatchObject({ kind: 'refused', code: 'validation_failed' });
    expect(await session.approve('user')).toMatchObject({ kind: 'refused', code: 'validation_failed' });
    expect(session.mode).toBe('plan');
  });

  it('[PM-78] the same request twice is one', () => {
    const { session, events } = planningSession({ kind: 'teammate' });
    const open = { requestId: 'request-1', planDigest: digestOfText(planText), revision: 1 };
    session.submitted(open);
    session.submitted(open);

    expect(events.filter(({ type }) => type === 'plan:proposed')).toHaveLength(1);
  });
});

describe('approving at the session', () => {
  it('[PM-73, PM-74] goes back, gives rules back, forgets the way back and tells the model, in one step', async () => {
    const seen: unknown[] = [];
    const { session } = planningSession({
      allowRules: [{ source: 'user', rule: 'Bash' }],
      autoGate: { isOpen: () => true },
      onEvent: (event) => {
        if (event.type !== 'plan:blocked')
          seen.push([event.type, session?.mode, session?.prePlanMode, session?.allowRules.length]);
      },
    });
    await session.submit();
    seen.length = 0;
    const opened = await session.approve('user', { feedback: 'mind the tests' });

    expect(seen).toEqual([
      ['plan:decided', 'acceptEdits', undefined, 1],
      ['plan:mode', 'acceptEdits', undefined, 1],
    ]);
    expect(opened).toMatchObject({ kind: 'opened', mode: 'acceptEdits', planEdited: false, context: 'keep' });
    expect(opened).toMatchObject({ result: expect.stringContaining(`## Approved Plan:\n${planText}`) });
    expect(opened).toMatchObject({ result: expect.stringContaining('mind the tests') });
    expect(session.awaitingPlanApproval).toBe(false);
  });

  it('[PM-15] adds no rule and leaves no approval of any tool', async () => {
    const allowRules = [{ source: 'user', rule: 'Edit' }];
    const { session } = planningSession({ allowRules });
    const opened = await session.approve('user', { mode: 'default' });

    expect(opened).toMatchObject({ result: expect.stringContaining('no standing approval for any tool') });
    expect(session.allowRules).toEqual(allowRules);
    expect(session.snapshot()).toMatchObject({ context: { mode: 'default' }, strippedRules: [] });
    session.enter('api');
    expect(session.gate(write).kind).toBe('refused');
    expect(session.snapshot().approval).toBeUndefined();
  });

  it('[PM-79] of an edited plan has it in storage before the gate opens', async () => {
    const planStorage = new MemoryPlan();
    const seen: string[] = [];
    const { session } = planningSession({
      planStorage,
      onEvent: ({ type }) => void (type === 'plan:decided' && seen.push(planStorage.text)),
    });
    const opened = await session.approve('user', { plan: '# edited\n' });

    expect(opened).toMatchObject({ planEdited: true });
    expect(opened).toMatchObject({
      result: expect.stringContaining('## Approved Plan (edited by user):\n# edited\n'),
    });
    expect(seen).toEqual(['# edited\n']);
  });

  it.each([
    ['empty, of an agent', '  ', 'plan_required'],
    ['too large to be shown', 'x'.repeat(maxApprovablePlanChars + 1), 'plan_too_large_to_approve'],
    ['no text that can be sent', 'a\0b', 'validation_failed'],
  ])(
    '[PM-71, PM-72, PM-79] of an edit that is %s is refused, and nothing is written',
    async (_what, text, code) => {
      const { session, plan } = planningSession({ kind: 'agent' });

      expect(await session.approve('user', { plan: text })).toMatchObject({ kind: 'refused', code });
      expect([session.mode, plan.text]).toEqual(['plan', planText]);
    },
  );

  it('[PM-72] of a plan that is too large is refused; rejecting it works', async () => {
    const { session, plan } = planningSession();
    plan.text = 'x'.repeat(maxApprovablePlanChars + 1);

    expect(await session.submit()).toMatchObject({ kind: 'submit', approvable: false });
    expect(await session.approve('user')).toMatchObject({ code: 'plan_too_large_to_approve' });
    expect(await session.reject('user', { feedback: 'shorter' })).toMatchObject({ kind: 'rejected' });
  });

  it('[PM-71, PM-74] of nothing lets a main thread proceed, and quotes no plan', async () => {
    const { session, plan } = planningSession();
    plan.text = '';
    await session.submit();
    const opened = await session.approve('user');

    expect(opened).toMatchObject({ kind: 'opened', result: expect.stringContaining('may proceed') });
    expect(opened).toMatchObject({ result: expect.not.stringContaining('Approved Plan') });
  });

  it('[PM-74] tells an agent to finish its planning turn', async () => {
    const { session } = planningSession({ kind: 'agent' });

    expect(await session.approve('user')).toMatchObject({
      result: expect.stringContaining('Finish your planning turn'),
    });
  });

  it('[PM-73, I3] of another plan than the submitted or the read one is refused', async () => {
    const { session, plan } = planningSession();
    expect(await session.approve('user', { planDigest: digestOfText('other') })).toMatchObject({
      code: 'stale_plan',
    });
    await session.submit();
    plan.text = '# changed after submission\n';

    expect(await session.approve('user')).toMatchObject({ code: 'stale_plan' });
    expect(session.mode).toBe('plan');
  });

  it('[I2, I5] of a request that waits for the lead is refused', async () => {
    const { session } = planningSession({ kind: 'teammate' });
    session.submitted({ requestId: 'request-1', planDigest: digestOfText(planText), revision: 1 });

    expect(await session.approve('user')).toMatchObject({ code: 'approval_required' });
    expect(await session.reject('user', { feedback: 'no' })).toMatchObject({ code: 'approval_required' });
    expect(session.awaitingPlanApproval).toBe(true);
  });

  it('[PM-73] into bypass is refused where that is not available', async () => {
    const { session } = planningSession();
    expect(await session.approve('user', { mode: 'bypassPermissions' })).toMatchObject({
      code: 'mode_not_allowed',
    });

    const other = planningSession({ bypassAvailable: true }).session;
    expect(await other.approve('user', { mode: 'bypassPermissions' })).toMatchObject({
      mode: 'bypassPermissions',
    });
  });

  it('[PM-75] with a new context is refused unless that is offered, and begins with the plan', async () => {
    const clear = { context: 'clear' } as const;
    expect(await planningSession().session.approve('user', clear)).toMatchObject({
      code: 'validation_failed',
    });

    const { session, plan } = planningSession({ showClearContextOnPlanAccept: true });
    const { text } = plan;
    plan.text = '';
    expect(await session.approve('user', clear)).toMatchObject({ code: 'plan_required' });
    plan.text = text;
    const opened = await session.approve('user', clear);
    if (opened.kind !== 'opened' || !opened.plan) throw new Error('it is not opened');
    expect(opened.context).toBe('clear');
    expect(continuationOf({ plan: opened.plan, transcriptPath: '/t' }).firstMessage).toContain(planText);
  });

  it('[PM-73] outside plan mode has nothing to approve', async () => {
    const { session } = planningSession({ mode: 'default' });

    expect(await session.approve('user', { mode: 'acceptEdits' })).toMatchObject({ code: 'not_planning' });
    expect(await session.reject('user', { feedback: 'no' })).toMatchObject({ code: 'not_planning' });
    expect(session.mode).toBe('default');
  });
});

describe('rejecting at the session', () => {
  it('[PM-76] keeps mode, plan and way back, and gives the model plan and reason', async () => {
    const { session, plan, events } = planningSession();
    await session.submit();
    const rejected = await session.reject('user', { feedback: 'skip docs/' });

    expect([session.mode, session.prePlanMode, plan.text]).toEqual(['plan', 'acceptEdits', planText]);
    for (const part of [planText, 'skip docs/', 'submit it again'])
      expect(rejected).toMatchObject({ kind: 'rejected', result: expect.stringContaining(part) });
    expect(events.at(-1)).toMatchObject({ type: 'plan:decided', outcome: 'rejected' });
    expect(await session.submit()).toMatchObject({ kind: 'submit' });
  });

  it('[PM-76] without a word or an image is refused, and the plan waits on', async () => {
    const { session } = planningSession();
    await session.submit();

    expect(await session.reject('user', { feedback: ' ' })).toMatchObject({ code: 'feedback_required' });
    expect(session.awaitingPlanApproval).toBe(true);
  });
});

describe('a wait that ends without a decision', () => {
  it.each(['timeout', 'withdrawn', 'superseded'] as const)(
    '[PM-77, I6] by %s is still planning',
    async (outcome) => {
      const { session, events } = planningSession();
      await session.submit();
      session.closed(outcome);

      expect([session.mode, session.awaitingPlanApproval]).toEqual(['plan', false]);
      expect(events.at(-1)).toMatchObject({ type: 'plan:decided', outcome });
      session.closed(outcome);
      expect(events.at(-1)?.seq).toBe(3);
    },
  );
});
