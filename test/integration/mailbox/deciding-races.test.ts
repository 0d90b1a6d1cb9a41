import { randomUUID } from 'node:crypto';
import { createSigner, decideRequest, keyOf } from '@placet/mailbox';
import { isPlacetError, type RequestRecord } from '@placet/protocol';
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  commitOf,
  contentOf,
  decide,
  entriesOf,
  failureOf,
  gapless,
  nameOf,
  numbersOf,
  passDeadline,
  recordOf,
  reserve,
  rivalOf,
  type StoreWorld,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

let world: StoreWorld;

const server = useStore({}, (opened) => {
  world = opened;
});

const reservation = (record: RequestRecord, token = randomUUID()) => ({
  ...nameOf(record),
  planDigest: record.plan.digest,
  token,
});

/** Lets a reservation lapse, as the passing of 5 s does. */
async function lapse(record: RequestRecord): Promise<void> {
  await world.handle.redis.hset(keyOf(world.team, 'requestState', teammate, record.requestId), 'ru', 1);
}

describe('a decision and a rival', () => {
  it('[WR-20] waits for no superseding submission that comes while it is being made', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    const superseding = submit(world, { sessionId: record.sessionId, planContent: 'better' });
    await world.mailbox.requests.commit(commitOf(record, held));
    const next = await superseding;

    expect(await recordOf(world, record)).toMatchObject({ state: 'approved', supersededBy: next.requestId });
    expect(next.state).toBe('pending');
  });

  it('[WR-20] loses to a submission that superseded first', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    await lapse(record);
    await submit(world, { sessionId: record.sessionId, planContent: 'better' });

    expect(await world.mailbox.requests.commit(commitOf(record, held))).toEqual({ kind: 'lapsed' });
    expect(await world.mailbox.requests.reserve(reservation(record))).toEqual({ kind: 'gone' });
    expect((await recordOf(world, record)).state).toBe('superseded');
  });

  it('[WR-24] wins over a deadline that passes while it is being made', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    await passDeadline(world, record);

    expect(await world.mailbox.requests.expire(world.team, record.requestId)).toBe('waiting');
    expect(await world.mailbox.requests.expireDue(world.team, 10)).toBe(0);
    expect((await recordOf(world, record)).state).toBe('pending');
    expect(await world.mailbox.requests.commit(commitOf(record, held))).toEqual({ kind: 'committed' });
    expect(await world.mailbox.requests.expire(world.team, record.requestId)).toBe('ended');
    expect((await recordOf(world, record)).state).toBe('approved');
  });

  it('[WR-24] loses to a deadline that ended the request after its reservation lapsed', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    await passDeadline(world, record);
    await lapse(record);
    expect(await world.mailbox.requests.expire(world.team, record.requestId)).toBe('expired');

    expect(await world.mailbox.requests.commit(commitOf(record, held))).toEqual({ kind: 'lapsed' });
    expect((await recordOf(world, record)).state).toBe('timeout');
  });

  it('[WR-20] holds off a withdrawal, which then is told who won', async () => {
    const record = await submit(world);
    const held = await reserve(world, record);
    const withdrawal = failureOf(world.mailbox.requests.withdraw(nameOf(record)));
    await world.mailbox.requests.commit(commitOf(record, held));

    const error = await withdrawal;
    expect(error.code).toBe('already_decided');
    expect(error.current).toMatchObject({ state: 'approved', decidedBy: 'lead:ada' });
  });
});

describe('many at once', () => {
  it('[I2] [WR-21] of 50 leads at each of 40 requests one wins, and the others are told who', {
    timeout: 120_000,
  }, async () => {
    const signer = createSigner('test-key', (await generateKeyPair('EdDSA')).privateKey);
    const other = await rivalOf(world, server.url);
    const requests = await Promise.all(Array.from({ length: 40 }, () => submit(world)));
    const attempts = requests.flatMap((record) =>
      Array.from({ length: 50 }, async (_, lead) => {
        const outcome = lead % 3 === 0 ? ('approved' as const) : ('rejected' as const);
        const input = {
          team: world.team,
          record,
          outcome,
          planDigest: record.plan.digest,
          permissionMode: outcome === 'approved' ? ('default' as const) : null,
          context: 'keep' as const,
          feedback: `says ${lead}`,
          decidedBy: `lead:${lead}`,
          notAfterMs: 60_000,
          policyDigest: record.policyDigest,
          notices: [],
        };
        const requestStore = (lead % 2 === 0 ? world : other).mailbox.requests;
        try {
          const { kind } = await decideRequest({ requests: requestStore, signer }, input);
          return { record, lead, kind };
        } catch (error) {
          if (!isPlacetError(error, 'already_decided')) throw error;
          return { record, lead, kind: 'refused', current: error.current };
        }
      }),
    );
    const answers = await Promise.all(attempts);

    for (const record of requests) {
      const { decision } = await recordOf(world, record);
      const mine = answers.filter((answer) => answer.record === record);
      const winners = mine.filter(({ kind }) => kind === 'decided');
      expect(winners.map(({ lead }) => `lead:${lead}`)).toEqual([decision?.decidedBy]);
      const losers = mine.filter(({ kind }) => kind === 'refused');
      expect(losers).toHaveLength(49);
      for (const { current } of losers) expect(current).toMatchObject({ decidedBy: decision?.decidedBy });
    }
    expect((await numbersOf(world, 'outbox')).ids).toEqual(gapless(40));
    expect((await numbersOf(world, 'audit')).ids).toEqual(gapless(80));
    expect((await numbersOf(world, 'events')).ids).toEqual(gapless(80));
    expect(await entriesOf(world, keyOf(world.team, 'inbox', teammate))).toHaveLength(40);
    await other.close();
  });

  it('[I2] [WR-20] a storm of submissions, decisions, withdrawals and deadlines leaves one outcome each, and no gap', {
    timeout: 120_000,
  }, async () => {
    const other = await rivalOf(world, server.url);
    const rounds = Array.from({ length: 100 }, async (_, round) => {
      const record = await submit(world);
      const rival = round % 2 === 0 ? other : world;
      const racers = [
        () => decide(rival, record).catch(() => undefined),
        () => decide(world, record, { outcome: 'rejected', by: 'lead:bob' }).catch(() => undefined),
        () => rival.mailbox.requests.withdraw(nameOf(record)).catch(() => undefined),
        () => submit(rival, { sessionId: record.sessionId, planContent: `better ${round}` }),
        () => passDeadline(world, record),
        () => rival.mailbox.requests.expire(world.team, record.requestId),
      ];
      const first = round % racers.length;
      const order = [...racers.slice(first), ...racers.slice(0, first)];
      await Promise.all(order.map((race) => race()));
      await rival.mailbox.requests.expire(world.team, record.requestId);
      const [mine, theirs] = await Promise.all([recordOf(world, record), recordOf(rival, record)]);
      expect(mine).toEqual(theirs);
      expect(mine.state).not.toBe('pending');
      expect(mine.decision !== undefined).toBe(['approved', 'rejected'].includes(mine.state));
      return mine;
    });
    const ended = await Promise.all(rounds);

    for (const log of ['events', 'audit', 'outbox'] as const) {
      const { ids, last } = await numbersOf(world, log);
      expect(ids).toEqual(gapless(last));
    }
    const { events } = await world.mailbox.events.read(world.team, undefined, 10_000);
    for (const record of ended) {
      const endings = events.filter(
        ({ type, requestId }) => type === 'plan:decided' && requestId === record.requestId,
      );
      expect(endings.map(({ outcome }) => outcome)).toEqual([record.state]);
    }
    const told = (await entriesOf(world, keyOf(world.team, 'inbox', teammate))).map(({ r }) => r);
    for (const record of ended) expect(told.filter((id) => id === record.requestId)).toHaveLength(1);
    await other.close();
  });

  it('[WR-20] a withdrawal ends what is pending, again and again with the same answer', async () => {
    const record = await submit(world);
    const withdrawn = await world.mailbox.requests.withdraw(nameOf(record));
    const before = await contentOf(world);

    expect(withdrawn).toEqual({ ...record, state: 'withdrawn' });
    expect(await world.mailbox.requests.withdraw(nameOf(record))).toEqual(withdrawn);
    expect(await contentOf(world)).toEqual(before);
    expect(await entriesOf(world, keyOf(world.team, 'outbox'))).toMatchObject([{ r: record.requestId }]);
  });

  it.each(['native', 'foreign-1'])(
    '[TM-10] a withdrawal by another teammate finds no request (%s)',
    async (kind) => {
      const record = await submit(world, kind === 'native' ? {} : { requestId: kind });
      for (const name of [
        { ...nameOf(record), teammate: 'worker-2' },
        { ...nameOf(record), requestId: 'unknown' },
      ]) {
        expect((await failureOf(world.mailbox.requests.withdraw(name))).code).toBe('not_found');
      }
      expect((await recordOf(world, record)).state).toBe('pending');
    },
  );

  it('[WR-24] a deadline ends nothing before its time', async () => {
    const record = await submit(world);
    const { requests } = world.mailbox;
    expect(await requests.expire(world.team, record.requestId)).toBe('early');
    expect(await requests.expire(world.team, 'unknown')).toBe('absent');
    expect(await requests.expireDue(world.team, 10)).toBe(0);
    expect(await recordOf(world, record)).toEqual(record);
  });

  it('[WR-24] a deadline of a second ends what nobody decided, without a sweep', async () => {
    const record = await submit(world, { deadlineMs: 1000 });
    const ended = await eventually(async () => {
      const now = await recordOf(world, record);
      return now.state !== 'pending' && now;
    });
    expect(ended.state).toBe('timeout');
    const [seconds = 0] = (await world.handle.redis.time()).map(Number);
    expect(seconds * 1000 + 1000).toBeGreaterThan(Date.parse(record.deadline));
  });
});
