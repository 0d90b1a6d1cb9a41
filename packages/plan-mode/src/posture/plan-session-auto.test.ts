import { PermissionMode, type SessionEvent, WorkingMode } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { PlanSession } from './plan-session.ts';
import type { PlanSessionOptions } from './plan-session-options.ts';
import { MemoryPlan } from './session-model.test.fixture.ts';

const rules = [
  { source: 'user', rule: 'Edit' },
  { source: 'user', rule: 'Bash(*)' },
  { source: 'project', rule: 'Agent' },
];
const safe = [rules[0]];

function sessionOf(more: Partial<PlanSessionOptions> = {}, open = true) {
  const gate = { open };
  const events: SessionEvent[] = [];
  const options: PlanSessionOptions = {
    sessionId: 'session-1',
    planModeRequired: false,
    allowRules: rules,
    autoGate: { isOpen: () => gate.open },
    planStorage: new MemoryPlan(),
    onEvent: (event) => events.push(event),
    ...more,
  };
  return { session: new PlanSession(options), gate, events, options };
}

describe('auto semantics while planning', () => {
  it('[PM-6] strip dangerous rules from any mode, and go back to that mode with all rules', async () => {
    for (const mode of WorkingMode.options) {
      const { session } = sessionOf({ mode });
      session.enter('api');
      expect(session.allowRules).toEqual(safe);
      expect(session.prePlanMode).toBe(mode);

      await session.approve('user');
      expect(session.mode).toBe(mode);
      expect(session.allowRules).toEqual(mode === 'auto' ? safe : rules);
    }
  });

  it.each([
    ['the setting is off', { useAutoModeDuringPlan: false }, true],
    ['the gate is closed', {}, false],
    ['the host has no gate', { autoGate: undefined }, true],
  ])('[PM-6] do not hold where %s', (_why, more, open) => {
    const { autoGate, ...rest } = { autoGate: { isOpen: () => open }, ...more };
    const { session } = sessionOf({
      ...rest,
      ...(autoGate ? { autoGate } : { autoGate: { isOpen: () => false } }),
    });
    session.enter('api');

    expect(session.allowRules).toEqual(rules);
    expect(session.strippedRules).toEqual([]);
  });

  it('[PM-5, PM-6] give rules back while planning where auto was left into a planning without them', async () => {
    const { session } = sessionOf({ mode: 'auto', useAutoModeDuringPlan: false });
    expect(session.allowRules).toEqual(safe);
    session.enter('api');
    expect(session.allowRules).toEqual(rules);

    session.exit('user');
    expect([session.mode, session.allowRules]).toEqual(['auto', safe]);
  });

  it('[PM-5] complete the stripping where the work is done in auto', async () => {
    const { session } = sessionOf({ useAutoModeDuringPlan: false });
    session.enter('api');
    await session.approve('user', { mode: 'auto' });

    expect([session.mode, session.allowRules]).toEqual(['auto', safe]);
    session.cycle('user');
    expect([session.mode, session.allowRules]).toEqual(['default', rules]);
  });

  it('[PM-5] respect what a host adds, removes and reads anew meanwhile', () => {
    const { session } = sessionOf();
    session.enter('api');
    session.changeRules({ kind: 'add', rule: { source: 'user', rule: 'Bash(python:*)' } });
    session.changeRules({ kind: 'remove', rule: { source: 'project', rule: 'Agent' } });
    expect(session.allowRules).toEqual(safe);

    session.exit('user');
    expect(session.allowRules).toEqual([...rules.slice(0, 2), { source: 'user', rule: 'Bash(python:*)' }]);
  });
});

describe('the auto gate', () => {
  it('[PM-7] that closes while planning gives the rules back at once, and the way back is default', () => {
    const { session, gate, events } = sessionOf({ mode: 'auto' });
    session.enter('api');
    gate.open = false;
    session.autoGateChanged();

    expect([session.mode, session.prePlanMode]).toEqual(['plan', 'default']);
    expect(session.allowRules).toEqual(rules);
    expect(events.at(-1)).toMatchObject({
      cause: 'auto_gate_closed',
      notice: expect.stringContaining('auto'),
    });
    session.autoGateChanged();
    expect(events.filter((event) => event.type === 'plan:mode' && event.notice)).toHaveLength(1);

    gate.open = true;
    session.autoGateChanged();
    expect(session.allowRules).toEqual(safe);
    expect(session.exit('user')).toEqual({ kind: 'left', mode: 'default' });
    expect(session.allowRules).toEqual(rules);
  });

  it.each(['exit', 'approve', 'approve auto'] as const)(
    '[PM-7] is asked again by %s, which lands in default and says so',
    async (way) => {
      const { session, gate, events } = sessionOf({ mode: 'auto' });
      session.enter('api');
      gate.open = false; // and nobody says so

      const outcome =
        way === 'exit'
          ? session.exit('user')
          : await session.approve('user', way === 'approve' ? {} : { mode: 'auto' });

      expect(outcome).toMatchObject({ mode: 'default', notice: expect.stringContaining('auto') });
      expect([session.mode, session.allowRules]).toEqual(['default', rules]);
      expect(events.at(-1)).toMatchObject({ mode: 'default', notice: expect.any(String) });
    },
  );

  it('[PM-7, I6] that fails is closed', () => {
    const broken = () => {
      throw new Error('no answer');
    };
    const { session } = sessionOf({ mode: 'auto', autoGate: { isOpen: broken } });

    expect(session.mode).toBe('default');
    session.enter('api');
    expect([session.prePlanMode, session.allowRules]).toEqual(['default', rules]);
  });
});

describe('the floor', () => {
  const calls = [
    { tool: 'Write', source: 'builtin' },
    { tool: 'mcp__files__write', source: 'mcp' },
    { tool: 'Bash', source: 'shell' },
    { tool: 'Agent', source: 'agent-spawn' },
  ] as const;

  it.each(WorkingMode.options)(
    '[PM-29] refuses the same with %s underneath, whatever is allowed there',
    (mode) => {
      for (const open of [true, false])
        for (const useAutoModeDuringPlan of [true, false]) {
          const allowRules = ['*', 'Write', 'Bash', 'Agent', 'mcp__files__*'].map((rule) => ({
            source: 'user',
            rule,
          }));
          const { session } = sessionOf(
            { mode, useAutoModeDuringPlan, allowRules, bypassAvailable: true },
            open,
          );
          session.enter('api');

          for (const call of calls) expect(session.gate(call).kind).toBe('refused');
        }
    },
  );
});

describe('cycling', () => {
  it('[PM-8] out of plan mode abandons the plan, approves nothing, and goes to the next mode', async () => {
    const { session, events } = sessionOf({ mode: 'acceptEdits' });
    session.enter('host_control');
    await session.submit();

    expect(session.cycle('user')).toMatchObject({ kind: 'left', mode: 'auto' });
    expect(events.slice(-2)).toMatchObject([
      { type: 'plan:decided', outcome: 'withdrawn' },
      { type: 'plan:mode', cause: 'plan_abandoned', previousMode: 'plan', mode: 'auto' },
    ]);
    expect(session.snapshot().approval).toBeUndefined();
    expect(events.filter((event) => event.type === 'plan:decided' && event.outcome === 'approved')).toEqual(
      [],
    );
  });

  it('[PM-8] goes once round with what is available', () => {
    const { session } = sessionOf({ bypassAvailable: true });
    const modes = Array.from({ length: 5 }, () => {
      session.cycle('user');
      return session.mode;
    });

    expect(modes).toEqual(['acceptEdits', 'plan', 'bypassPermissions', 'auto', 'default']);
  });

  it('[PM-3, PM-8] into plan mode remembers the mode before, as every entry does', () => {
    const { session } = sessionOf({ mode: 'acceptEdits' });

    expect(session.cycle('user')).toEqual({ kind: 'entered', mode: 'plan' });
    expect(session.prePlanMode).toBe('acceptEdits');
  });

  it('[PM-8] names the request that nobody waits for any more', () => {
    const { session } = sessionOf({ mode: 'plan', kind: 'teammate' });
    session.submitted({ requestId: 'request-1', planDigest: `sha256:${'0'.repeat(64)}`, revision: 1 });

    expect(session.cycle('user')).toMatchObject({ kind: 'left', withdrawn: 'request-1' });
  });
});

describe('the record of a session', () => {
  const required = { planModeRequired: true };

  it('[PM-9] brings back mode, way back, stripped rules, request and numbering', () => {
    const { session, options } = sessionOf({ mode: 'auto', kind: 'teammate' });
    session.enter('api');
    session.submitted({ requestId: 'request-1', planDigest: `sha256:${'0'.repeat(64)}`, revision: 3 });
    const record: unknown = JSON.parse(JSON.stringify(session.snapshot()));

    for (const allowRules of [rules, session.allowRules]) {
      const back = PlanSession.restore({ ...options, allowRules }, record);
      expect([back.mode, back.prePlanMode, back.awaitingPlanApproval]).toEqual(['plan', 'auto', true]);
      expect(back.strippedRules).toEqual(session.strippedRules);
      expect(back.snapshot()).toEqual(record);
      back.enter('api');
      back.closed('timeout');
      expect(back.eventsAfter(3).events.map(({ seq }) => seq)).toEqual([4]);
      back.exit('user');
      back.cycle('user');
      expect(back.allowRules).toEqual(rules);
    }
  });

  it.each([
    ['is missing', undefined],
    ['is null', null],
    ['is no record', 'plan'],
    ['is empty', {}],
    ['names a mode that there is not', { context: { mode: 'root' } }],
    ['says plan without a way back', { context: { mode: 'plan' } }],
    ['has rules that are none', { context: { mode: 'default' }, strippedRules: [1] }],
  ])('[PM-9, I6] that %s means planning', (_what, record) => {
    for (const planModeRequired of [true, false]) {
      const { options } = sessionOf({ planModeRequired, kind: 'teammate', mode: 'bypassPermissions' });
      const back = PlanSession.restore(options, record);

      expect([back.mode, back.prePlanMode]).toEqual(['plan', 'default']);
      expect(back.gate({ tool: 'Write', source: 'builtin' }).kind).toBe('refused');
    }
  });

  it.each(WorkingMode.options)(
    '[PM-9, PM-17, I6] that says %s means planning where plan mode is required, approval or not',
    (mode) => {
      const planDigest = `sha256:${'0'.repeat(64)}` as const;
      const { options, events } = sessionOf(required);
      events.length = 0;
      const back = PlanSession.restore(options, {
        context: { mode },
        open: { requestId: 'request-1', planDigest, revision: 1 },
        approval: { requestId: 'request-1', planDigest },
      });

      expect(back.mode).toBe('plan');
      expect(back.snapshot().approval).toBeUndefined();
      expect(events).toMatchObject([{ cause: 'restored', previousMode: mode, mode: 'plan' }]);
    },
  );

  it('[PM-7, PM-9] that says auto comes back without it where the gate closed meanwhile', () => {
    const { session, options, gate } = sessionOf({ mode: 'auto', kind: 'teammate' });
    session.enter('api');
    gate.open = false;
    const back = PlanSession.restore(options, session.snapshot());

    expect([back.prePlanMode, back.allowRules]).toEqual(['default', rules]);
  });

  it.each(PermissionMode.options)(
    '[PM-9] is none for a session outside a team: the next one starts in %s',
    (mode) => {
      const { session, options } = sessionOf({ mode: 'plan' });
      expect(session.mode).toBe('plan');

      expect(new PlanSession({ ...options, mode }).mode).toBe(mode);
    },
  );
});
