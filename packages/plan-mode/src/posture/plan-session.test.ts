import { type DecisionClaims, digestOfText, type OpenRequest, type SessionEvent } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { PlanSession } from './plan-session.ts';
import type { Actor, PlanSessionOptions } from './plan-session-options.ts';

const open: OpenRequest = { requestId: 'request-1', planDigest: digestOfText('the plan'), revision: 1 };
const write = { tool: 'Write', source: 'builtin' } as const;
const actors: Actor[] = ['user', 'model'];

function options(more: Partial<PlanSessionOptions> = {}): PlanSessionOptions {
  return { sessionId: 'session-1', planModeRequired: true, ...more };
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

  it.each(actors)('[PM-17] is left by no exit, approval or cycling of a %s', async (actor) => {
    const session = new PlanSession(options());
    const refused = { kind: 'refused', code: 'approval_required' };

    expect(session.exit(actor)).toMatchObject(refused);
    expect(session.cycle(actor)).toMatchObject(refused);
    expect(await session.approve(actor, { mode: 'default' })).toMatchObject(refused);
    session.submitted(open);
    expect(await session.approve(actor)).toMatchObject(refused);
    expect(session.mode).toBe('plan');
    expect(session.gate(write).kind).toBe('refused');
  });

  it.each(actors)('[PM-17] is not cycled by a %s beyond the mode that was granted', async (actor) => {
    const session = new PlanSession(options());
    session.submitted(open);
    await session.decide(claims({ permissionMode: 'default' }));

    expect(session.cycle(actor)).toMatchObject({ kind: 'refused', code: 'approval_required' });
    expect(session.mode).toBe('default');
  });

  it('[PM-30] opens at the moment the decision about its request is applied', async () => {
    const session = new PlanSession(options());
    session.submitted(open);
    expect(session.awaitingPlanApproval).toBe(true);

    expect(await session.decide(claims())).toMatchObject({ kind: 'opened', mode: 'acceptEdits' });
    expect(session.gate(write).kind).toBe('allowed');
    expect(session.mode).toBe('acceptEdits');
  });

  it('[PM-30] opens for the session that asked and for no other', async () => {
    const [asked, other] = [new PlanSession(options()), new PlanSession(options({ sessionId: 'session-2' }))];
    asked.submitted(open);
    other.submitted(open);

    expect(await other.decide(claims())).toMatchObject({ code: 'decision_invalid' });
    await asked.decide(claims());
    expect([asked.mode, other.mode]).toEqual(['acceptEdits', 'plan']);
  });

  it.each<[string, Partial<DecisionClaims>]>([
    ['a teleport', { outcome: 'teleport' }],
    ['another request', { requestId: 'request-2' }],
    ['another session', { sessionId: 'session-2' }],
    ['another plan', { planDigest: digestOfText('another plan') }],
    ['another revision', { revision: 2 }],
  ])('[PM-30, I1, I3] stays closed for a decision about %s', async (_what, more) => {
    const session = new PlanSession(options());
    session.submitted(open);

    expect(await session.decide(claims(more))).toMatchObject({ kind: 'refused', code: 'decision_invalid' });
    expect(session.mode).toBe('plan');
    expect(session.gate(write).kind).toBe('refused');
  });

  it('[PM-17] stays closed for a decision while nothing was submitted', async () => {
    expect(await new PlanSession(options()).decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[PM-76, I1] plans on after a rejection, and waits for nothing', async () => {
    const session = new PlanSession(options({ prePlanMode: 'acceptEdits' }));
    session.submitted(open);

    expect(await session.decide(claims({ outcome: 'rejected' }), { feedback: 'skip docs' })).toMatchObject({
      kind: 'rejected',
      result: expect.stringContaining('skip docs'),
    });
    expect([session.mode, session.prePlanMode]).toEqual(['plan', 'acceptEdits']);
    expect(session.awaitingPlanApproval).toBe(false);
    expect(await session.decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[PM-70] takes no plan for waiting outside plan mode', async () => {
    const session = new PlanSession(options());
    session.submitted(open);
    await session.decide(claims());

    expect(session.submitted({ ...open, requestId: 'request-2' })).toMatchObject({ code: 'not_planning' });
  });

  it('[TM-11] closes again when the mode in effect is stronger than the granted one', async () => {
    const session = new PlanSession(options());
    session.submitted(open);
    await session.decide(claims());

    expect(session.confirm('bypassPermissions')).toMatchObject({ kind: 'refused', code: 'mode_mismatch' });
    expect(session.gate(write).kind).toBe('refused');
    expect(await session.decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[TM-11] closes again for a mode that is neither stronger nor weaker', async () => {
    const session = new PlanSession(options());
    session.submitted(open);
    await session.decide(claims());

    expect(session.confirm('dontAsk')).toMatchObject({ kind: 'refused', code: 'mode_mismatch' });
  });

  it('[TM-11] reports the mode in effect where it is weaker', async () => {
    const session = new PlanSession(options());
    session.submitted(open);
    await session.decide(claims());

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
    const old = free();
    old.enter('api');

    expect(old.mode).toBe('plan');
    expect(free().mode).toBe('default');
  });

  it('[PM-13] is left by a user and never by a model', async () => {
    const session = free({ mode: 'plan' });

    expect(session.exit('model')).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(session.cycle('model')).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(await session.approve('model')).toMatchObject({ kind: 'refused', code: 'forbidden' });
    expect(await session.reject('model', { feedback: 'no' })).toMatchObject({ code: 'forbidden' });
    expect(session.mode).toBe('plan');
    expect(session.exit('user')).toEqual({ kind: 'left', mode: 'default' });
  });

  it.each([
    'USER',
    ' user',
    'user\0',
    'system',
    '',
    undefined,
    null,
    1,
    ['user'],
    { toString: () => 'user' },
  ])('[PM-13] takes %j for no user, and says so in the log', async (actor) => {
    const warned: object[] = [];
    const quiet = () => undefined;
    const log = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (fields: object) => void warned.push(fields),
    };
    const session = free({ mode: 'plan', log });

    for (const way of ['exit', 'cycle', 'approve', 'reject'])
      expect(await Reflect.apply(Reflect.get(session, way), session, [actor, {}])).toMatchObject({
        code: 'forbidden',
      });
    expect(session.mode).toBe('plan');
    expect(warned).toHaveLength(4);
  });

  it.each(['exit', 'approve'] as const)(
    '[PM-4] is gated while planning out of bypass, and back there by %s',
    async (way) => {
      const session = free({ mode: 'bypassPermissions' });
      expect(session.gate(write).kind).toBe('allowed');
      session.enter('host_control');
      session.enter('host_control');
      expect(session.gate(write).kind).toBe('refused');

      if (way === 'exit') session.exit('user');
      else await session.approve('user');

      expect(session.mode).toBe('bypassPermissions');
      expect(session.gate(write).kind).toBe('allowed');
    },
  );

  it('[PM-3] forgets a submitted plan when it enters again', async () => {
    const session = free({ mode: 'plan' });
    session.submitted(open);
    await session.decide(claims());
    session.enter('meta_command');

    expect(session.awaitingPlanApproval).toBe(false);
    expect(await session.decide(claims())).toMatchObject({ kind: 'refused' });
  });

  it('[PM-3] has nothing to exit where it does not plan', () => {
    const session = free({ mode: 'acceptEdits' });

    expect(session.exit('user')).toMatchObject({ kind: 'refused', code: 'not_planning' });
    expect(session.mode).toBe('acceptEdits');
  });

  it('[PM-78] tells every transition and refusal once, numbered', () => {
    const events: SessionEvent[] = [];
    const session = free({ onEvent: (event) => events.push(event) });
    session.enter('api');
    session.enter('api');
    session.gate(write);
    session.exit('user');

    expect(events.map(({ type, seq }) => [type, seq])).toEqual([
      ['plan:mode', 1],
      ['plan:mode', 2],
      ['plan:blocked', 3],
      ['plan:mode', 4],
    ]);
    expect(session.eventsAfter(0)).toEqual({ events, missing: false });
    expect(session.eventsAfter(2).events).toEqual(events.slice(2));
  });

  it('[PM-2] neither reads nor writes how autonomous the operator lets sessions be', async () => {
    const touched: PropertyKey[] = [];
    const touch = (key: PropertyKey) => {
      touched.push(key);
      return true;
    };
    const watched = new Proxy(
      { ...options({ planModeRequired: false }), autonomy: 'strict' },
      { get: (target, key) => touch(key) && Reflect.get(target, key), set: (_target, key) => touch(key) },
    );
    const session = new PlanSession(watched);
    session.enter('api');
    session.exit('user');
    session.cycle('user');
    session.cycle('user');
    await session.approve('user');

    expect(touched).toContain('planModeRequired');
    expect(touched).not.toContain('autonomy');
    expect(JSON.stringify([session.snapshot(), session.eventsAfter(0)])).not.toContain('autonomy');
  });

  it('[PM-19, PM-78] tells of each change in a sentence that says what happened', () => {
    const session = free();
    session.enter('api');
    session.exit('user');

    const announcements = session
      .eventsAfter(0)
      .events.map((event) => (event.type === 'plan:mode' ? event.announcement : ''));
    expect(announcements).toEqual([
      'The session starts in default mode.',
      expect.stringContaining('now in plan mode'),
      expect.stringContaining('without an approved plan'),
    ]);
  });
});
