import { keyOf } from '@placet/mailbox';
import { digestOfText, maxPlanBytes, newRequestId, newSessionId, RequestRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import {
  type Changes,
  commandOf,
  contentOf,
  decide,
  entriesOf,
  failureOf,
  gapless,
  nameOf,
  numbersOf,
  owner,
  recordOf,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

useStore({ rivalWaitMs: 200 }, (opened) => {
  world = opened;
});

describe('submitting', () => {
  it('[WR-27] answers the record in the shape of every route, with what was submitted', async () => {
    const workspace = {
      cwd: '/src',
      head: 'c0ffee',
      dirty: digestOfText('d'),
      task: digestOfText('t'),
      agent: 'codemod',
    };
    const given = {
      planContent: '# Plän\n\u{feff}ends without a line feed',
      revision: 3,
      supersedes: 'an-older-one',
      prePlanMode: 'acceptEdits',
      executionTarget: 'remote',
      labels: { risk: 'low' },
      usage: { inputTokens: 5, costUsd: 0.25 },
      scope: { write: ['src/**'], run: [], tools: [] },
      summary: 'short',
      workspace,
    } satisfies Changes;
    const submission = submissionOf(world, given);
    const { kind, record } = await world.mailbox.requests.submit(commandOf(world, submission));

    expect(kind).toBe('created');
    expect(record).toEqual(await recordOf(world, record));
    expect(RequestRecord.strict().parse(record)).toEqual({
      v: 1,
      requestId: submission.requestId,
      team: world.team,
      teammate,
      owner,
      sessionId: submission.sessionId,
      revision: 3,
      supersedes: 'an-older-one',
      state: 'pending',
      work: { state: 'none', epoch: 0 },
      plan: {
        digest: digestOfText(given.planContent),
        path: '/home/ada/.placet/plans/calm-river.md',
        chars: given.planContent.length,
        bytes: Buffer.byteLength(given.planContent),
      },
      prePlanMode: 'acceptEdits',
      executionTarget: 'remote',
      submittedAt: record.submittedAt,
      deadline: record.deadline,
      labels: { risk: 'low' },
      usage: given.usage,
      scope: given.scope,
      summary: 'short',
      workspace,
      policyDigest: record.policyDigest,
      votes: [],
      delivery: {},
    });
  });

  it('[WR-26] [WR-20] stores the record, the entry of the lead and the event in one step', async () => {
    const record = await submit(world);
    const { redis } = world.handle;

    expect(await redis.zrange(keyOf(world.team, 'pending'), '0', '-1')).toEqual([record.requestId]);
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events).toMatchObject([
      {
        id: '1-0',
        type: 'plan:proposed',
        requestId: record.requestId,
        sessionId: record.sessionId,
        teammate,
        planDigest: record.plan.digest,
        revision: 1,
      },
    ]);
    expect((await numbersOf(world, 'audit')).ids).toEqual(gapless(1));
    const [entry] = await world.mailbox.inboxes.read(world.team, 'team-lead', { limit: 10 });
    expect(entry?.message).toMatchObject({
      type: 'plan_approval_request',
      requestId: record.requestId,
      planContent: '# Plan\n\n1. Rename the option.\n',
      planDigest: record.plan.digest,
    });
  });

  it('[WR-26] keeps the entry of the lead when that is read or acknowledged, until the request ends', async () => {
    const record = await submit(world);
    const read = () => world.mailbox.inboxes.read(world.team, 'team-lead', { limit: 10 });
    const ids = (await read()).map(({ id }) => id);

    await world.mailbox.inboxes.acknowledge(world.team, 'team-lead', ids);
    expect((await read()).map(({ id }) => id)).toEqual(ids);
    expect((await recordOf(world, record)).state).toBe('pending');
    await decide(world, record, { outcome: 'rejected' });
    expect(await read()).toEqual([]);
  });

  it('[WR-14] [ST-4] stores a plan as raw bytes under its digest, and refers to it', async () => {
    const planContent = '\u{feff}# Plan “quoted” [] 12345678901234567890\r\n\ttabs \u{1f600}';
    const record = await submit(world, { planContent });

    expect(await world.mailbox.requests.planBytes(world.team, record.plan.digest)).toEqual(
      Buffer.from(planContent),
    );
    expect((await world.mailbox.requests.getWithPlan(world.team, record.requestId))?.planContent).toBe(
      planContent,
    );
    const stored = await world.handle.redis.get(keyOf(world.team, 'request', teammate, record.requestId));
    expect(stored).not.toContain('quoted');
  });

  it('[TM-43] stores a plan once however many requests refer to it', async () => {
    for (let revision = 1; revision <= 3; revision += 1) await submit(world, { revision });
    const keys = Object.keys(await contentOf(world)).filter((key) => key.includes(':log:plan:'));
    expect(keys).toHaveLength(1);
    expect(await world.handle.redis.hvals(keyOf(world.team, 'planReferences'))).toEqual(['3']);
  });

  it('[ST-1] puts every key of a team under one hash tag, and the team into the set of teams', async () => {
    const record = await submit(world, { requestId: 'foreign-1' });
    await decide(world, record, { editedPlan: 'another' });
    for (const key of Object.keys(await contentOf(world))) {
      expect(key).toMatch(new RegExp(`^placet:\\{${world.team}\\}:(m\\.${teammate}|lead|log):`));
    }
    expect(await world.mailbox.teams.list()).toContain(world.team);
  });

  it('[ST-3] keeps the mutable fields of request and session small enough for a listpack', async () => {
    const record = await submit(world);
    await decide(world, record, { editedPlan: 'another' });
    const { lease } = (await world.mailbox.requests.claim(nameOf(record), 'h'.repeat(64), 1000)) as {
      lease: { epoch: number };
    }; // a free session is held
    await world.mailbox.requests.settle(nameOf(record), {
      epoch: lease.epoch,
      state: 'failed',
      reason: 'é'.repeat(500),
    });
    for (const key of [
      keyOf(world.team, 'requestState', teammate, record.requestId),
      keyOf(world.team, 'session', teammate, record.sessionId),
    ]) {
      expect(await world.handle.redis.object('ENCODING', key)).toBe('listpack');
    }
    expect((await recordOf(world, record)).work.reason).toBe(`${'é'.repeat(30)}…`);
  });
});

describe('what is refused', () => {
  it.each([
    ['[TM-3] an empty plan', { planContent: ' \n\t' }, 'plan_required'],
    [
      '[WR-31] a plan over 1 MiB in UTF-8',
      { planContent: 'é'.repeat(maxPlanBytes / 2 + 1) },
      'payload_too_large',
    ],
    ['[WR-31] a NUL character', { planContent: 'a\0b' }, 'validation_failed'],
    ['[WR-31] a lone surrogate, which no UTF-8 can hold', { planContent: 'a\ud800' }, 'validation_failed'],
    ['[WR-10] a digest that is not the plan’s', { planDigest: digestOfText('other') }, 'validation_failed'],
    ['[WR-10] another sender', { from: 'worker-2' }, 'validation_failed'],
    ['[WR-10] another team', { team: 'other' }, 'validation_failed'],
    [
      '[WR-2] a native ID of another team',
      { requestId: newRequestId(teammate, 'other') },
      'validation_failed',
    ],
    ['[WR-24] a deadline in the past', { deadline: '2020-01-01T00:00:00.000Z' }, 'validation_failed'],
    ['[WR-24] a deadline in the far future', { deadline: '2999-01-01T00:00:00.000Z' }, 'validation_failed'],
    ['[WR-24] a wait under a second', { deadlineMs: 999 }, 'validation_failed'],
    ['[ST-9] a native ID older than the retention', { madeAtMs: Date.UTC(2020, 0) }, 'validation_failed'],
    ['[ST-9] a native ID from the future', { madeAtMs: Date.UTC(2999, 0) }, 'validation_failed'],
  ])('%s, and nothing is stored', async (_, { madeAtMs, ...changes }: Record<string, unknown>, code) => {
    const requestId = typeof madeAtMs === 'number' ? nativeIdOf(world.team, madeAtMs) : undefined;
    const submission = { ...submissionOf(world, requestId ? { requestId } : {}), ...changes };

    expect((await failureOf(world.mailbox.requests.submit(commandOf(world, submission)))).code).toBe(code);
    expect(await contentOf(world)).toEqual({});
  });

  it('[WR-2] a native ID of another teammate', async () => {
    const submission = submissionOf(world, { teammate: 'worker-2' });
    expect((await failureOf(world.mailbox.requests.submit(commandOf(world, submission)))).code).toBe(
      'validation_failed',
    );
  });

  it('[TM-16] a plan of a worker that has lost its session; its repetition of one that is there is answered', async () => {
    const { team } = world;
    const name = { team, teammate, sessionId: newSessionId() };
    await world.mailbox.tasks.open(name, { task: 't', team, cwd: '/src', agent: 'codemod' });
    const { sessionId } = name;
    await world.mailbox.tasks.hold(name, 'first', 1);
    const command = { ...commandOf(world, submissionOf(world, { sessionId })), epoch: 1 };
    await world.mailbox.requests.submit(command);
    await expect.poll(() => world.mailbox.tasks.hold(name, 'second', 5000)).toMatchObject({ kind: 'held' });

    expect((await world.mailbox.requests.submit(command)).kind).toBe('replayed');
    const late = { ...commandOf(world, submissionOf(world, { sessionId })), epoch: 1 };
    expect((await failureOf(world.mailbox.requests.submit(late))).code).toBe('epoch_stale');
  });

  it('[WR-24] checks the deadline against the clock of the store, and waits a day unless told', async () => {
    const { submittedAt, deadline } = await submit(world);
    expect(Date.parse(deadline) - Date.parse(submittedAt)).toBe(24 * 60 * 60 * 1000);
    expect((await entriesOf(world, keyOf(world.team, 'events')))[0]?.at).toBe(
      String(Date.parse(submittedAt)),
    );
  });
});

/** A native ID whose UUID says that it was made at this time. */
function nativeIdOf(team: string, madeAtMs: number): string {
  const hex = madeAtMs.toString(16).padStart(12, '0');
  return `plan_approval-${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab@${teammate}@${team}`;
}
