import {
  digestOfText,
  type RequestRecord,
  type RequestState,
  type TaskPhase,
  type TaskRecord,
  type WorkState,
} from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type NextStep, nextStep, type Situation } from './next-step.ts';

const digest = digestOfText('plan');
const at = '2026-01-01T00:00:00.000Z';

function task(phase: TaskPhase, more: Partial<TaskRecord> = {}): TaskRecord {
  const job = { task: 'do', team: 'main', cwd: '/', agent: 'codemod' };
  return {
    v: 1,
    sessionId: 's',
    job,
    phase,
    createdAt: at,
    prePlanMode: 'default',
    revision: 1,
    epoch: 1,
    wake: 1,
    ...more,
  };
}

function request(
  state: RequestState,
  work: WorkState = 'none',
  more: Partial<RequestRecord> = {},
): RequestRecord {
  return {
    v: 1,
    requestId: 'r1',
    team: 'main',
    teammate: 'worker',
    owner: 'teammate:worker',
    sessionId: 's',
    revision: 1,
    state,
    work: { state: work, epoch: 1 },
    plan: { digest, path: '/p', chars: 4, bytes: 4 },
    prePlanMode: 'default',
    executionTarget: 'local',
    submittedAt: at,
    deadline: at,
    labels: {},
    policyDigest: digest,
    votes: [],
    delivery: {},
    ...more,
  };
}

function step(more: Partial<Situation>): NextStep {
  const situation: Situation = {
    task: task('awaiting_approval'),
    request: undefined,
    intent: { requestId: 'r1' },
    intentIsStored: true,
    maxRevisions: 3,
    resume: false,
    onBaseMoved: 'notice',
    agentIsLost: false,
    ...more,
  };
  return nextStep(situation);
}

describe('what a session is owed', () => {
  it('[TM-6] is a new plan where the agent that was approved cannot be resumed and is gone, never its work', () => {
    const approved = request('approved');
    expect(step({ request: approved })).toEqual({ kind: 'decide', request: approved });
    expect(step({ request: approved, agentIsLost: true })).toEqual({
      kind: 'plan',
      revision: 2,
      previous: approved,
    });
    expect(step({ request: request('approved', 'claimed'), agentIsLost: true })).toMatchObject({
      kind: 'plan',
    });
    expect(step({ request: request('approved', 'done'), agentIsLost: true })).toMatchObject({ kind: 'end' });
  });

  it('[TM-2, PM-9] is a plan first', () => {
    expect(
      step({ task: task('planning', { revision: 0 }), intent: undefined, intentIsStored: false }),
    ).toMatchObject({
      kind: 'plan',
      revision: 1,
    });
  });

  it('[TM-4] is the submission that was begun, under the same ID', () => {
    expect(step({ intentIsStored: false })).toEqual({ kind: 'submit', requestId: 'r1' });
    expect(
      step({ request: request('rejected'), intent: { requestId: 'r2' }, intentIsStored: false }),
    ).toEqual({
      kind: 'submit',
      requestId: 'r2',
    });
  });

  it.each<[RequestState, NextStep['kind']]>([
    ['pending', 'rest'],
    ['approved', 'decide'],
    ['rejected', 'decide'],
    ['teleport', 'decide'],
    ['timeout', 'end'],
    ['withdrawn', 'end'],
    ['superseded', 'rest'],
  ])('[TM-7, I1] for a request that is %s is to %s', (state, kind) => {
    expect(step({ request: request(state) }).kind).toBe(kind);
  });

  it.each<[WorkState, NextStep['kind']]>([
    ['none', 'decide'],
    ['claimed', 'decide'],
    ['applied', 'decide'],
  ])('[TM-8] for work that is %s is to look at the decision again', (work, kind) => {
    expect(step({ request: request('approved', work), task: task('implementing') }).kind).toBe(kind);
  });

  it('[TM-16] for work that is settled is to publish it, whether or not the phase says so', () => {
    for (const phase of ['implementing', 'done'] as const)
      expect(
        step({
          request: request('approved', 'done'),
          task: task(phase, { branch: 'placet/a', commit: 'c' }),
        }),
      ).toMatchObject({ kind: 'publish', branch: 'placet/a', commit: 'c' });
  });

  it.each<TaskPhase>(['failed', 'withdrawn', 'teleported', 'handed_over'])(
    'is nothing once the task is %s',
    (phase) => {
      for (const state of ['pending', 'approved', 'rejected', 'timeout'] as const)
        expect(step({ task: task(phase, { reason: 'plan_timeout' }), request: request(state) })).toEqual({
          kind: 'rest',
        });
    },
  );

  it('[TM-7] after a deadline is to fail, and to plan again only when asked', () => {
    expect(step({ request: request('timeout') })).toEqual({
      kind: 'end',
      phase: 'failed',
      reason: 'plan_timeout',
    });
    const failed = task('failed', { reason: 'plan_timeout' });
    expect(step({ task: failed, request: request('timeout'), resume: true })).toMatchObject({
      kind: 'plan',
      revision: 2,
    });
    expect(
      step({ task: task('failed', { reason: 'agent_failed' }), request: request('timeout'), resume: true }),
    ).toEqual({
      kind: 'rest',
    });
  });

  it('[TM-7] ends after as many revisions as are allowed', () => {
    const late = request('timeout', 'none', { revision: 3 });

    expect(step({ task: task('awaiting_approval', { revision: 3 }), request: late, resume: true })).toEqual({
      kind: 'end',
      phase: 'failed',
      reason: 'revisions_exhausted',
    });
  });

  it('[TM-13] after a move of the base is to plan again only where that is the policy', () => {
    const moved = request('approved', 'failed', {
      work: { state: 'failed', epoch: 1, reason: 'base_moved' },
    });
    const failed = task('failed', { reason: 'base_moved' });

    expect(step({ task: failed, request: moved, onBaseMoved: 'replan' })).toMatchObject({
      kind: 'plan',
      revision: 2,
    });
    expect(step({ task: failed, request: moved, onBaseMoved: 'refuse' })).toEqual({ kind: 'rest' });
  });

  it('[WR-28] is to fail where the approval lapsed before anybody began', () => {
    const lapsed = request('approved', 'failed', {
      work: { state: 'failed', epoch: 0, reason: 'expired_unapplied' },
    });

    expect(step({ request: lapsed })).toEqual({ kind: 'end', phase: 'failed', reason: 'expired_unapplied' });
  });
});
