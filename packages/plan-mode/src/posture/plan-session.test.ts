import type { DecisionClaims } from '@placet/protocol';
import { digestOfText } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type OpenRequest,
  PlanSession,
  type PlanSessionEvent,
  type PlanSessionOptions,
} from './plan-session.ts';

const open: OpenRequest = { requestId: 'request-1', planDigest: digestOfText('the plan'), revision: 1 };
const write = { tool: 'Write', source: 'builtin' } as const;
const actors: Actor[] = ['user', 'model'];

function options(more: Partial<PlanSessionOptions> = {}): PlanSessionOptions {
  return { sessionId: 'session-1', planModeRequired: true, isPlanFile: () => false, ...more };
}

function claims(more: Partial<DecisionClaims> = {}): DecisionClaims {
  return {
    v: 1,
    iss: 'placet',
    jti: 'decision-1',
    requestId: open.requestId,
    team: 'main',
    teammate: 'worker',
    sessionId: 'session-1',
    revision: 1,
    planDigest: open.planDigest,
    approvedPlanDigest: open.planDigest,
    workspaceDigest: open.planDigest,
    contentDigest: open.planDigest,
    outcome: 'approved',
    permissionMode: 'acceptEdits',
    context: 'keep',
    planEdited: false,
    decidedBy: 'local:ada',
    decidedAt: '2026-01-01T00:00:00.000Z',
    notAfter: '2026-01-02T00:00:00.000Z',
    policyDigest: open.planDigest,
    ...more,
  };
}

describe('a session that requires plan mode', () => {
  it('[PM-9, I6] plans from the first moment, before there is any request', () => {
    const session = new PlanSession(options({ mode: 'bypassPermissions' }));

    expect(session.mode).toBe('plan');
    expect(session.awaitingPlanApproval).toBe(false);
    expect(session.gate(write).kind).toBe('refused');
  });

  it.each(actors)('[PM-17] is left by no exit or approval of a %s', (actor) => {
    const session = new PlanSession(options());

    expect(session.exit(actor)).toMatchObject({ kind: 'refused', code: 'approval_required' });
    expect(session.approve(actor, 'default')).toMatchObject({ kind: 'refused', code: 'approval_required' });
    expect(session.gate(write).kind).toBe('refused');
  });

  it('[PM-30] opens at the moment the decision about its request is applied', () => {
    const session = new PlanSession(options());
    session.submitted(open);
    expect(session.awaitingPlanApproval).toBe(true);

    expect(session.decide(claims())).toEqual({ kind: 'opened', mode: 'acceptEdits' });
    expect(session.gate(write).kind).toBe('allowed');
    expect(session.mode).toBe('acceptEdits');
  });

  it.each<[string, Partial<DecisionClaims>]>([
    ['a rejection', { outcome: 'rejected' }],
    ['a teleport', { outcome: 'teleport' }],
    ['another request', { requestId: 'request-2' }],
    ['another session', { sessionId: 'session-2' }],
    ['another plan', { planDigest: digestOfText('another plan') }],
    ['another revision', { revision: 2 }],
  ])('[PM-30, I1, I3] stays closed for a decision about %s', (_what, more) => {
    const session = new PlanSession(options());
    session.submitted(open);

    expect(session.decide(claims(more))).toMatchObject({ kind: 'refused', code: 'decision_invalid' });
    expect(session.mode).toBe('plan');
    expect(session.gate(write).kind).toBe('refused');
  });

  it('[PM-17] stays closed for a decision while nothing was submitted', () => {
    expect(new PlanSession(options()).decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[PM-9, I6] comes back planning even where its record says otherwise', () => {
    const session = PlanSession.restore(options(), { context: { mode: 'bypassPermissions' }, open });

    expect(session.mode).toBe('plan');
    expect(session.gate(write).kind).toBe('refused');
  });

  it('[PM-9] comes back with its pre-plan mode and its open request', () => {
    const before = new PlanSession(options({ prePlanMode: 'auto' }));
    before.submitted(open);
    const after = PlanSession.restore(options(), before.snapshot());

    expect(after.prePlanMode).toBe('auto');
    expect(after.awaitingPlanApproval).toBe(true);
    expect(after.decide(claims())).toMatchObject({ kind: 'opened' });
  });

  it('[TM-11] closes again when the mode in effect is stronger than the granted one', () => {
    const session = new PlanSession(options());
    session.submitted(open);
    session.decide(claims());

    expect(session.confirm('bypassPermissions')).toMatchObject({ kind: 'refused', code: 'mode_mismatch' });
    expect(session.gate(write).kind).toBe('refused');
  });

  it('[TM-11] closes again for a mode that is neither stronger nor weaker', () => {
    const session = new PlanSession(options());
    session.submitted(open);
    session.decide(claims());

    expect(session.confirm('dontAsk')).toMatchObject({ kind: 'refused', code: 'mode_mismatch' });
  });

  it('[TM-11] reports the mode in effect where it is weaker', () => {
    const session = new PlanSession(options());
    session.submitted(open);
    session.decide(claims());

    expect(session.confirm('default')).toEqual({ kind: 'confirmed', mode: 'default' });
    expect(session.mode).toBe('default');
  });

  it('[TM-11] has nothing to confirm while it plans', () => {
    expect(new PlanSession(options()).confirm('default')).toMatchObject({ code: 'approval_required' });
  });
});

describe('a session that may plan', () => {
  const free = (more: Partial<PlanSessionOptions> = {}) =>
    new PlanSession(options({ planModeRequired: false, ...more }));

  it('[PM-9] is in memory: a new one does not plan because an old one did', () => {
    expect(free().mode).toBe('default');
  });

  it('[PM-13] is left by a user and never by a model', () => {
    const session = free({ mode: 'plan' });

    expect(session.exit('model')).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(session.approve('model', 'restore')).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(session.mode).toBe('plan');
    expect(session.exit('user')).toEqual({ kind: 'left', mode: 'default' });
  });

  it.each(['exit', 'approve'] as const)(
    '[PM-4] is gated while planning out of bypass, and back there by %s',
    (way) => {
      const session = free({ mode: 'bypassPermissions' });
      expect(session.gate(write).kind).toBe('allowed');
      session.enter();
      session.enter();
      expect(session.gate(write).kind).toBe('refused');

      if (way === 'exit') session.exit('user');
      else session.approve('user', 'restore');

      expect(session.mode).toBe('bypassPermissions');
      expect(session.gate(write).kind).toBe('allowed');
    },
  );

  it('[PM-3] forgets a submitted plan when it enters again', () => {
    const session = free({ mode: 'plan' });
    session.submitted(open);
    session.decide(claims());
    session.enter();

    expect(session.awaitingPlanApproval).toBe(false);
    expect(session.decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[PM-78] tells every transition and refusal once, numbered', () => {
    const events: PlanSessionEvent[] = [];
    const session = free({ onEvent: (event) => events.push(event) });
    session.enter();
    session.enter();
    session.gate(write);
    session.exit('user');

    expect(events.map(({ type, seq }) => [type, seq])).toEqual([
      ['plan:mode', 1],
      ['plan:blocked', 2],
      ['plan:mode', 3],
    ]);
  });
});
