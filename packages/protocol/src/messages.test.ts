import { describe, expect, test } from 'vitest';
import { digestOfText } from './digest.ts';
import {
  KnownMessage,
  OutgoingMessage,
  PlanApprovalRequest,
  PlanApprovalResponse,
  requestMessage,
  responseMessage,
} from './messages.ts';
import { RequestRecord, RequestWithPlan } from './request.ts';

const planContent = '# Plan\n';
const planDigest = digestOfText(planContent);
const endedAt = '2026-11-30T20:40:00.000Z';

const pending = RequestRecord.parse({
  v: 1,
  requestId: 'x@worker@alpha',
  team: 'alpha',
  teammate: 'worker',
  owner: 'local:ada',
  sessionId: 's',
  revision: 2,
  supersedes: 'w@worker@alpha',
  state: 'pending',
  work: { state: 'none', epoch: 0 },
  plan: { digest: planDigest, path: '/p.md', chars: planContent.length, bytes: planContent.length },
  prePlanMode: 'auto',
  executionTarget: 'local',
  submittedAt: '2026-11-30T20:38:25.890Z',
  deadline: '2026-12-01T20:38:25.890Z',
  labels: { risk: 'low' },
  policyDigest: planDigest,
  votes: [],
  delivery: {},
});

const decision = {
  planEdited: false,
  approvedPlanDigest: planDigest,
  decidedBy: 'local:bob',
  decidedAt: '2026-11-30T20:39:00.000Z',
  notices: [],
  signature: 'a.b.c',
} as const;

test('[WR-10] the request in the lead’s inbox is made from the record and is one by the schema', () => {
  const message = requestMessage(RequestWithPlan.parse({ ...pending, planContent }));
  expect(PlanApprovalRequest.parse(message)).toEqual({
    type: 'plan_approval_request',
    requestId: 'x@worker@alpha',
    from: 'worker',
    team: 'alpha',
    timestamp: pending.submittedAt,
    planFilePath: '/p.md',
    planContent,
    planDigest,
    sessionId: 's',
    revision: 2,
    supersedes: 'w@worker@alpha',
    prePlanMode: 'auto',
    executionTarget: 'local',
    deadline: pending.deadline,
    labels: { risk: 'low' },
  });
});

describe('[WR-11] the response in a teammate’s inbox', () => {
  test('of an approval names mode and digest, and carries decider and signature', () => {
    const record = RequestRecord.parse({
      ...pending,
      state: 'approved',
      decision: { ...decision, outcome: 'approved', permissionMode: 'acceptEdits', context: 'keep' },
    });
    expect(PlanApprovalResponse.parse(responseMessage(record, { endedAt }))).toEqual({
      type: 'plan_approval_response',
      requestId: 'x@worker@alpha',
      approved: true,
      outcome: 'approved',
      timestamp: decision.decidedAt,
      permissionMode: 'acceptEdits',
      context: 'keep',
      planDigest,
      planEdited: false,
      decidedBy: 'local:bob',
      notices: [],
      signature: 'a.b.c',
    });
  });

  test('of an edited approval carries the plan as approved and its digest', () => {
    const editedPlan = '# Plan\n\nonly a.txt\n';
    const approvedPlanDigest = digestOfText(editedPlan);
    const edited = { ...decision, outcome: 'approved', planEdited: true, approvedPlanDigest };
    const record = RequestRecord.parse({ ...pending, state: 'approved', decision: edited });
    expect(responseMessage(record, { endedAt, editedPlan })).toMatchObject({
      planContent: editedPlan,
      planDigest: approvedPlanDigest,
      planEdited: true,
    });
  });

  test('of a rejection is not approved and carries the feedback', () => {
    const rejected = { ...decision, outcome: 'rejected', feedback: 'smaller steps' };
    const record = RequestRecord.parse({ ...pending, state: 'rejected', decision: rejected });
    expect(responseMessage(record, { endedAt })).toMatchObject({
      approved: false,
      outcome: 'rejected',
      feedback: 'smaller steps',
      signature: 'a.b.c',
    });
  });

  test.each(['timeout', 'withdrawn', 'superseded'] as const)(
    'of %s is unsigned and can only close',
    (state) => {
      const message = responseMessage(RequestRecord.parse({ ...pending, state }), { endedAt });
      expect(message).toMatchObject({ approved: false, outcome: state, timestamp: endedAt, planDigest });
      expect(message).not.toHaveProperty('signature');
    },
  );

  test('does not exist while the request is pending', () => {
    expect(responseMessage(pending, { endedAt })).toBeUndefined();
  });

  test('[WR-14] is no approval where state and decision disagree, or the decision is missing', () => {
    const forged = RequestRecord.parse({ ...pending, state: 'approved' });
    expect(responseMessage(forged, { endedAt })).toMatchObject({ approved: false });
    const relabelled = RequestRecord.parse({
      ...pending,
      state: 'approved',
      decision: { ...decision, outcome: 'rejected' },
    });
    expect(responseMessage(relabelled, { endedAt })).toMatchObject({ approved: false });
  });
});

test('[WR-12] every message type of this release parses as a known message', () => {
  const samples = [
    { type: 'message', text: 'hi' },
    { type: 'mode_changed', mode: 'auto' },
    { type: 'idle_notification' },
    { type: 'shutdown_request' },
    { type: 'shutdown_response' },
  ];
  for (const sample of samples) expect(KnownMessage.safeParse(sample).success, sample.type).toBe(true);
});

test('[WR-12] a message of a type that nobody knows is taken, up to a length', () => {
  const outgoing = (text: string) => ({ to: 'team-lead', message: { type: 'x', text } });
  expect(OutgoingMessage.safeParse(outgoing('y'.repeat(1_000_000))).success).toBe(true);
  expect(OutgoingMessage.safeParse(outgoing('y'.repeat(1024 * 1024))).success).toBe(false);
});
