import type { PermissionMode } from '@placet/protocol';
import { describe, expect, it, vi } from 'vitest';
import { contextOf, enterPlan } from '../posture/permission-context.ts';
import type { ConsentEnd } from '../questions/ask-end.ts';
import { OpenQuestions } from '../questions/open-questions.ts';
import type { SessionKind } from '../submission/submission.ts';
import { consentWords, enterByConsent } from './consent.ts';

/** A session that asks its own open consents. */
function session(from: { mode?: PermissionMode; sessionKind?: SessionKind } = {}) {
  let context =
    from.mode === 'plan' ? enterPlan(contextOf('default')) : contextOf(from.mode ?? 'acceptEdits');
  const questions = new OpenQuestions({ sessionId: 's1' });
  const ask = vi.fn(() =>
    questions.askConsent('It touches the ledger', { requestId: 'c1', inPlanMode: false }),
  );
  const enter = vi.fn(() => {
    context = enterPlan(context);
  });
  const begin = () =>
    enterByConsent({ sessionKind: from.sessionKind ?? 'main', mode: () => context.mode, ask, enter });
  return { questions, ask, enter, begin, mode: () => context.mode };
}

describe('a model that would like to plan first', () => {
  it('[PM-12, PM-10] enters when a person accepts, and not before', async () => {
    const { questions, begin, mode } = session();
    const outcome = begin();

    expect(questions.open).toMatchObject([{ ask: { kind: 'consent', reason: 'It touches the ledger' } }]);
    expect(mode()).toBe('acceptEdits');
    questions.answer('c1', { consent: 'accepted' }, 'local:ada');
    expect(await outcome).toMatchObject({ kind: 'entered', isError: false });
    expect(mode()).toBe('plan');
  });

  it('[PM-12] carries on without plan mode when it is declined, which is no error', async () => {
    const { questions, begin, mode, enter } = session();
    const outcome = begin();
    questions.answer('c1', { consent: 'declined' });

    expect(await outcome).toMatchObject({ kind: 'declined', isError: false });
    expect((await outcome).textForModel).toContain('Carry on with the task');
    expect([mode(), enter.mock.calls.length]).toEqual(['acceptEdits', 0]);
  });

  it.each<ConsentEnd>([
    { kind: 'consent', consent: 'cancelled' },
    { kind: 'unanswered' },
    { kind: 'interrupted', cause: 'shutdown' },
    { kind: 'interrupted', cause: 'withdrawn' },
  ])('[PM-12, I6] takes %j for cancelled', async (end) => {
    const enter = vi.fn();
    const outcome = await enterByConsent({
      sessionKind: 'teammate',
      mode: () => 'default',
      ask: async () => end,
      enter,
    });

    expect(outcome).toMatchObject({ kind: 'cancelled', isError: false });
    expect(enter).not.toHaveBeenCalled();
  });

  it('[PM-12] is refused in a sub-agent, and nobody is asked', async () => {
    const { ask, begin, mode } = session({ sessionKind: 'agent' });

    expect(await begin()).toMatchObject({ kind: 'refused', code: 'forbidden', isError: true });
    expect(ask).not.toHaveBeenCalled();
    expect(mode()).toBe('acceptEdits');
  });

  it('[PM-12, PM-3] asks nobody where the session plans already', async () => {
    const { ask, begin, enter } = session({ mode: 'plan' });

    expect(await begin()).toMatchObject({ kind: 'already_planning', isError: false });
    expect([ask.mock.calls.length, enter.mock.calls.length]).toEqual([0, 0]);
  });

  it('[PM-12, PM-66] stays open over a shutdown and is taken up under its ID', async () => {
    const { questions, begin, enter } = session();
    const outcome = begin();
    const snapshot = JSON.parse(JSON.stringify(questions.park()));

    expect(await outcome).toMatchObject({ kind: 'parked', requestId: 'c1', isError: false });
    const back = OpenQuestions.restore({ sessionId: 's1' }, snapshot);
    const again = enterByConsent({
      sessionKind: 'main',
      mode: () => 'default',
      ask: () => back.askConsent('It touches the ledger', { requestId: 'c1', inPlanMode: false }),
      enter,
    });
    back.answer('c1', { consent: 'accepted' });
    expect(await again).toMatchObject({ kind: 'entered' });
    expect(enter).toHaveBeenCalledOnce();
  });

  it('[PM-12] cannot be answered with anything but the three answers', async () => {
    const { questions, begin } = session();
    const outcome = begin();

    for (const body of [
      {},
      { consent: 'yes' },
      { answers: {} },
      { consent: 'accepted', mode: 'auto' },
      'accepted',
      null,
    ])
      expect(questions.answer('c1', body)).toMatchObject({ kind: 'refused', code: 'validation_failed' });
    questions.answer('c1', { consent: 'cancelled' });
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
  });

  it('[PM-12] is told of as the surface must: nothing is changed before an approval, and one can start now', () => {
    expect(consentWords.body).toContain('Nothing is changed before a plan is approved');
    expect(consentWords.answers.declined).toBe('No, start now');
  });
});
