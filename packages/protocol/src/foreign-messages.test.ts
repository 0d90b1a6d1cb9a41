import { expect, test } from 'vitest';
import { digestOfText } from './digest.ts';
import { readForeignRequest, toForeignRequest, toForeignResponse } from './foreign-messages.ts';
import { KnownMessage, Message, OutgoingMessage } from './messages.ts';

const text = JSON.stringify({
  type: 'plan_approval_request',
  from: 'worker',
  timestamp: '2026-11-30T20:38:25.890Z',
  planFilePath: '/home/dev/plans/vivid-petting-duckling.md',
  planContent: '# Plan\n',
  requestId: 'plan_approval-1796071105890@worker@alpha',
});
const entry = { from: 'worker', text, timestamp: '2026-11-30T20:38:25.890Z', msgV: 1, read: false };

test('[WR-13] a request in the shape of existing clients is read', () => {
  expect(readForeignRequest(entry)).toMatchObject({
    requestId: 'plan_approval-1796071105890@worker@alpha',
    planContent: '# Plan\n',
  });
});

test.each([
  'approved',
  '{"type":"plan_approval_response","approved":true}',
  '{',
  '{"type":"plan_approval_request"}',
])('[WR-13] [WR-14] %s is no request', (other) => {
  expect(readForeignRequest({ ...entry, text: other })).toBeUndefined();
});

test('[WR-13] a response goes out in the shape that existing clients read, without what they do not know', () => {
  const planDigest = digestOfText('# Plan\n');
  const written = toForeignResponse('team-lead', {
    type: 'plan_approval_response',
    requestId: 'x',
    approved: true,
    outcome: 'approved',
    timestamp: '2026-11-30T20:38:40.000Z',
    permissionMode: 'acceptEdits',
    planDigest,
    planEdited: false,
    signature: 'a.b.c',
  });
  expect(written).toMatchObject({ from: 'team-lead', timestamp: '2026-11-30T20:38:40.000Z' });
  expect(JSON.parse(written.text)).toEqual({
    type: 'plan_approval_response',
    requestId: 'x',
    approved: true,
    timestamp: '2026-11-30T20:38:40.000Z',
    permissionMode: 'acceptEdits',
    planDigest,
  });
});

test('[WR-13] what was read can be written again', () => {
  const request = readForeignRequest(entry);
  const full = {
    ...request,
    team: 'alpha',
    sessionId: 's',
    revision: 1,
    prePlanMode: 'default',
    executionTarget: 'local',
  };
  const message = KnownMessage.parse({
    ...full,
    planDigest: digestOfText('# Plan\n'),
    deadline: '2026-12-01T20:38:25.890Z',
  });
  expect(message.type === 'plan_approval_request' && JSON.parse(toForeignRequest(message).text)).toEqual(
    JSON.parse(text),
  );
});

test('[WR-12] types that this release does not know are kept with all their fields', () => {
  expect(Message.parse({ type: 'from_the_future', a: { b: 1 } })).toEqual({
    type: 'from_the_future',
    a: { b: 1 },
  });
});

test.each(['plan_approval_request', 'plan_approval_response'])(
  '[WR-14] nobody sends a %s as a message',
  (type) => {
    expect(OutgoingMessage.safeParse({ to: 'worker', message: { type, approved: true } }).success).toBe(
      false,
    );
  },
);
