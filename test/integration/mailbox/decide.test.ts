import { keyOf } from '@placet/mailbox';
import { currentOf, digestOfText, PlacetError, type RequestRecord } from '@placet/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeadProcess, makeLeadKey, planText, submitPlan } from '../../support/decision-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis, uniqueTeam } from '../../support/redis-server.ts';

let redis: TestRedis;
let lead: LeadProcess;
let other: LeadProcess;

beforeAll(async () => {
  redis = await startRedis();
  const key = await makeLeadKey();
  lead = await LeadProcess.start(redis.url, key);
  other = await LeadProcess.start(redis.url, key);
});
afterAll(async () => {
  await lead.close();
  await other.close();
  await redis.stop();
});

const requests = () => lead.mailbox.requests;
const streamLength = (team: string, name: 'outbox' | 'audit') => lead.handle.redis.xlen(keyOf(team, name));
const sequence = async (team: string, name: string) =>
  Number(await lead.handle.redis.hget(keyOf(team, 'sequence'), name));

interface Answer {
  code: string;
  current?: unknown;
}

const answerOf = (promise: Promise<unknown>): Promise<Answer> =>
  promise.then(
    () => ({ code: 'decided' }),
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && 'current' in error)
        return { code: String(error.code), current: error.current };
      throw error;
    },
  );

describe('deciding in the store', () => {
  it('[WR-20] writes the decision, its inbox entry, wake-up and audit number in one step', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const auditBefore = await streamLength(team, 'audit');
    const decided = await lead.decide(record, { feedback: 'Mind the tests.' });

    expect(decided.kind).toBe('decided');
    expect(await requests().get(team, record.requestId)).toEqual(decided.record);
    expect(await lead.handle.redis.xlen(keyOf(team, 'inbox', 'worker'))).toBe(1);
    expect(await streamLength(team, 'outbox')).toBe(1);
    expect(await streamLength(team, 'audit')).toBe(auditBefore + 1);
  });

  it('[WR-20] stores an edited plan with it, byte for byte', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const edited = Buffer.from('\ufeff# Less\r\n');
    const { record: decided } = await lead.decide(record, { approvedPlan: edited });
    const digest = decided.decision?.approvedPlanDigest ?? '';

    expect(decided.decision?.planEdited).toBe(true);
    expect(Buffer.from((await requests().planBytes(team, digest)) ?? [])).toEqual(edited);
    expect(Buffer.from((await requests().planBytes(team, record.plan.digest)) ?? []).toString()).toBe(
      planText,
    );
  });

  it('[WR-20] of 50 decisions at once on each of 20 requests one stands, and only that one was ever signed', async () => {
    const team = uniqueTeam();
    const records = await Promise.all(Array.from({ length: 20 }, () => submitPlan(lead.mailbox, team)));
    const signedBefore = lead.signatures + other.signatures;
    const decide = async (record: RequestRecord) => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          answerOf((index % 2 ? lead : other).decide(record, { decidedBy: `local:${index}` })),
        ),
      );
      return { answers, record: await requests().get(team, record.requestId) };
    };

    for (const { answers, record } of await Promise.all(records.map(decide))) {
      const refused = answers.filter(({ code }) => code !== 'decided');
      expect(refused).toHaveLength(49);
      for (const answer of refused)
        expect(answer).toEqual({ code: 'already_decided', current: record && currentOf(record) });
    }
    expect(lead.signatures + other.signatures - signedBefore).toBe(20);
    expect(await streamLength(team, 'outbox')).toBe(20);
    expect(await sequence(team, 'outbox')).toBe(20);
    expect(await sequence(team, 'audit')).toBe(await streamLength(team, 'audit'));
  });

  it('[WR-21] again in the same words is answered with the first one, from another process too', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const first = await lead.decide(record);
    const signedBefore = other.signatures;
    const again = await other.decide(record);

    expect(again).toEqual({ kind: 'replayed', record: first.record });
    expect(other.signatures).toBe(signedBefore);
    expect(await streamLength(team, 'outbox')).toBe(1);
  });

  it('[WR-22] on another plan than the stored one is stale, and reserves nothing', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const digest = digestOfText('older');
    const misread = { ...record, plan: { ...record.plan, digest } };

    expect(await answerOf(lead.decide(record, { planDigest: digest }))).toMatchObject({ code: 'stale_plan' });
    expect(await answerOf(lead.decide(misread))).toEqual({ code: 'stale_plan', current: currentOf(record) });
    expect((await lead.decide(record)).kind).toBe('decided');
  });

  it('[IN-3][WR-23] after supersession is refused, and nothing is signed', async () => {
    const team = uniqueTeam();
    const first = await submitPlan(lead.mailbox, team);
    const { sessionId, requestId } = first;
    const next = await submitPlan(lead.mailbox, team, {
      sessionId,
      revision: 2,
      supersedes: requestId,
      planContent: '# 2',
    });
    const signedBefore = lead.signatures;

    expect(await answerOf(lead.decide(first))).toMatchObject({
      code: 'superseded',
      current: { supersededBy: next.requestId },
    });
    expect(lead.signatures).toBe(signedBefore);
  });

  it('[WR-24] after the deadline is told of the timeout, though nobody swept', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team, { deadlineMs: 1000 });
    const untouched = { ...record };
    await eventually(() => Date.now() > Date.parse(record.deadline) + 20);

    expect(await answerOf(lead.decide(untouched))).toMatchObject({
      code: 'already_decided',
      current: { outcome: 'timeout' },
    });
  });

  it('[WR-20] waits for a lead that vanished with its reservation, and decides when that lapsed', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const { requestId, teammate, plan } = record;
    await requests().reserve({ team, teammate, requestId, planDigest: plan.digest, token: 'vanished' });
    const startedAtMs = performance.now();

    expect((await lead.decide(record)).kind).toBe('decided');
    expect(performance.now() - startedAtMs).toBeGreaterThan(4500);
  });

  it('[WR-20] whose answer is lost finds its own decision', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const store = requests();
    const deaf = {
      get: store.get.bind(store),
      reserve: store.reserve.bind(store),
      confirm: store.confirm.bind(store),
      commit: async (command: Parameters<typeof store.commit>[0]) => {
        await store.commit(command);
        throw new PlacetError('store_unavailable', 'the answer was lost');
      },
    };
    const decided = await lead.decide(record, {}, { requests: deaf });

    expect(decided.kind).toBe('decided');
    expect(await store.get(team, record.requestId)).toEqual(decided.record);
    expect(await streamLength(team, 'outbox')).toBe(1);
  });

  it('[WR-20] sent after its reservation lapsed writes nothing, and the request is still to be decided', async () => {
    const team = uniqueTeam();
    const record = await submitPlan(lead.mailbox, team);
    const store = requests();
    let first = true;
    const late = {
      get: store.get.bind(store),
      reserve: store.reserve.bind(store),
      confirm: store.confirm.bind(store),
      commit: async (command: Parameters<typeof store.commit>[0]) => {
        // A token that is not the reservation's is what a lapsed one is to the store.
        const result = await store.commit(first ? { ...command, token: 'lapsed' } : command);
        first = false;
        return result;
      },
    };
    const decided = await lead.decide(record, {}, { requests: late });

    expect(decided.kind).toBe('decided');
    expect(await store.get(team, record.requestId)).toEqual(decided.record);
    expect(await streamLength(team, 'outbox')).toBe(1);
  });
});
