import { digestOfText, silentLog } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { storedPlan } from '../plan/plan-storage.ts';
import type { PlanSessionOptions } from './plan-session-options.ts';
import { claimsOf, MemoryPlan, planningSession } from './session-model.test.fixture.ts';

const planText = '# plan 0\n';

/** A session that plans, and a storage of which each operation waits until it is let on. */
function slowSession(more: Partial<PlanSessionOptions> = {}) {
  const waiting: (() => void)[] = [];
  const plan = new MemoryPlan(() => new Promise<void>((resolve) => waiting.push(resolve)));
  const made = planningSession({ planStorage: plan, ...more });
  const letOn = async () => {
    waiting.shift()?.();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { ...made, plan, letOn };
}

describe('a verified decision', () => {
  const open = { requestId: 'request-1', planDigest: digestOfText(planText), revision: 1 };
  const claims = (text: string) =>
    claimsOf({
      ...open,
      approvedPlanDigest: digestOfText(text),
      permissionMode: 'acceptEdits',
      outcome: 'approved',
    });

  it('[PM-79] puts the approved plan in the place of what is there', async () => {
    const { session, plan } = planningSession({ planModeRequired: true, kind: 'teammate' });
    session.submitted(open);
    plan.text = '# written after submission\n';

    expect(await session.decide(claims(planText), { plan: storedPlan(planText) })).toMatchObject({
      kind: 'opened',
    });
    expect(plan.text).toBe(planText);
  });

  it('[PM-79, I3] is void without the very plan that was approved', async () => {
    const { session, plan } = planningSession({ planModeRequired: true, kind: 'teammate' });
    session.submitted(open);

    expect(await session.decide(claims('# edited\n'))).toMatchObject({ code: 'decision_invalid' });
    expect(await session.decide(claims('# edited\n'), { plan: storedPlan('# other\n') })).toMatchObject({
      code: 'decision_invalid',
    });
    expect(await session.decide(claims(''), { plan: storedPlan('') })).toMatchObject({
      code: 'decision_invalid',
    });
    expect([session.mode, plan.text]).toEqual(['plan', planText]);
  });
});

describe('what happens while an approval is under way', () => {
  it('[PM-73, PM-79] exit wins: the edit is taken back and nothing is approved', async () => {
    const { session, plan, events, letOn } = slowSession();
    const approval = session.approve('user', { plan: '# edited\n' });
    await letOn(); // its turn
    await letOn(); // read
    session.exit('user');
    session.enter('api');
    for (let step = 0; step < 4; step += 1) await letOn();

    expect(await approval).toMatchObject({ kind: 'refused', code: 'stale_plan' });
    expect([session.mode, plan.text]).toEqual(['plan', planText]);
    expect(events.filter((event) => event.type === 'plan:decided')).toEqual([]);
  });

  it('[PM-73] one that waits for its turn does not open a planning that was entered after it', async () => {
    // Found by the property suite: it was judged by what held when its turn came, not when the person acted.
    const { session, plan, letOn } = slowSession();
    const first = session.approve('user', { plan: '# edited\n' });
    const second = session.approve('user', { plan: '# never written\n' });
    session.exit('user');
    session.enter('api');
    const texts = new Set<string>();
    for (let step = 0; step < 8; step += 1) {
      await letOn();
      texts.add(plan.text);
    }

    expect([(await first).kind, (await second).kind, session.mode]).toEqual(['refused', 'refused', 'plan']);
    expect(texts).not.toContain('# never written\n');
  });

  it('[PM-73] one that waits for its turn does not approve a plan that was submitted after it', async () => {
    const { session, plan, letOn } = slowSession();
    const submission = session.submit();
    const approval = session.approve('user');
    plan.text = '# another\n';
    for (let step = 0; step < 4; step += 1) await letOn();

    expect(await submission).toMatchObject({ kind: 'submit' });
    expect(await approval).toMatchObject({ kind: 'refused', code: 'stale_plan' });
  });

  it('[PM-7, PM-73] a closing auto gate has it land in default', async () => {
    const gate = { open: true };
    const { session, letOn } = slowSession({
      prePlanMode: 'auto',
      autoGate: { isOpen: () => gate.open },
      allowRules: [{ source: 'user', rule: 'Bash' }],
    });
    const approval = session.approve('user', { plan: '# edited\n' });
    await letOn();
    gate.open = false;
    session.autoGateChanged();
    for (let step = 0; step < 4; step += 1) await letOn();

    expect(await approval).toMatchObject({ kind: 'opened', mode: 'default' });
    expect(session.allowRules).toHaveLength(1);
  });

  it('[I2, PM-73] a second decision finds the first', async () => {
    const { session, plan, letOn } = slowSession();
    const [edited, plain] = [session.approve('user', { plan: '# edited\n' }), session.approve('user')];
    for (let step = 0; step < 8; step += 1) await letOn();

    expect(await edited).toMatchObject({ kind: 'opened' });
    expect(await plain).toMatchObject({ kind: 'refused', code: 'not_planning' });
    expect(plan.text).toBe('# edited\n');
  });

  it('[PM-73, PM-79, I6] a storage that fails leaves it planning, with the plan from before', async () => {
    const plan = new MemoryPlan();
    const failing = {
      load: () => plan.load(),
      save: async (text: string) => {
        const saved = await plan.save(text); // written, and then the folder could not be synced
        if (text === '# edited\n') throw new Error('disk full');
        return saved;
      },
    };
    const { session } = planningSession({ planStorage: failing });

    await expect(session.approve('user', { plan: '# edited\n' })).rejects.toThrow('disk full');
    expect([session.mode, plan.text]).toEqual(['plan', planText]);
    expect(await session.approve('user')).toMatchObject({ kind: 'opened' });
  });

  it('[PM-79, I8] an edit that cannot be put back is logged', async () => {
    const errors: object[] = [];
    const failing = {
      load: () => Promise.resolve(storedPlan(planText)),
      save: () => Promise.reject(new Error('disk full')),
    };
    let loads = 0;
    const { session } = planningSession({
      planStorage: {
        ...failing,
        load: () => (loads++ === 0 ? failing.load() : Promise.reject(new Error('gone'))),
      },
      log: { ...silentLog, error: (fields) => void errors.push(fields) },
    });

    await expect(session.approve('user', { plan: '# edited\n' })).rejects.toThrow('disk full');
    expect(errors).toHaveLength(1);
    expect(session.mode).toBe('plan');
  });
});
