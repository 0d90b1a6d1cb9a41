import { currentOf, digestOfText, type RequestRecord, toTimestamp } from '@placet/protocol';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DecideInput } from './decide-input.ts';
import { type DecideDeps, decideRequest } from './decide-request.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { MemoryDecisionStore, noAnswer, TestTime } from './memory-decision-store.test.fixture.ts';
import {
  claimsIn,
  decideInput,
  makeKey,
  pendingRecord,
  type TestKey,
} from './signing/decision-case.test.fixture.ts';
import { DecisionVerifier } from './signing/decision-verifier.ts';
import { ownRequestOf } from './signing/verification.ts';

let lead: TestKey;
let time: TestTime;
let pending: RequestRecord;
let store: MemoryDecisionStore;
let signatures: number;

beforeAll(async () => {
  lead = await makeKey();
});
beforeEach(() => {
  time = new TestTime();
  pending = pendingRecord({ deadline: toTimestamp(time.nowMs + 3_600_000) });
  store = new MemoryDecisionStore(pending, time);
  signatures = 0;
});

/** One process of the lead; signing takes `signMs`. */
const leadProcess = (signMs = 0): DecideDeps => ({
  requests: store,
  signer: {
    kid: lead.kid,
    sign: async (typ, claims) => {
      signatures++;
      time.pass(signMs);
      return lead.signer.sign(typ, claims);
    },
  },
  monotonicMs: () => time.nowMs,
  pause: time.pause,
  mutex: new KeyedMutex(),
});

const input = (changes: Partial<DecideInput> = {}) => decideInput(pending, changes);

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'fulfilled',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

describe('deciding', () => {
  it('[WR-20] stores a decision that its teammate can verify, dated by the store', async () => {
    const { kind, record } = await decideRequest(leadProcess(), input());

    expect(kind).toBe('decided');
    expect(record).toEqual(store.record);
    expect(record.decision?.decidedAt).toBe(toTimestamp(time.nowMs));
    expect(claimsIn(record.decision?.signature ?? '').notAfter).toBe(toTimestamp(time.nowMs + 86_400_000));
    const verified = await new DecisionVerifier({ keys: lead.keys }).verify({
      record,
      own: ownRequestOf(pending),
      approvedPlan: Buffer.from('# Plan\n\nRename the function.\n'),
      nowMs: time.nowMs,
      claimedBefore: false,
    });
    expect(verified.kind).toBe('valid');
  });

  it('[WR-22] a plan that is not the one that was read is refused before anything is reserved or signed', async () => {
    const error = decideRequest(leadProcess(), input({ planDigest: digestOfText('older') }));

    await expect(error).rejects.toMatchObject({ code: 'stale_plan', current: currentOf(pending) });
    expect(store.held).toBeUndefined();
    expect(signatures).toBe(0);
  });

  it('[WR-22] a plan that the store says is another one is refused unsigned', async () => {
    store.record = { ...pending, plan: { ...pending.plan, digest: digestOfText('newer') } };

    await expect(decideRequest(leadProcess(), input())).rejects.toMatchObject({
      code: 'stale_plan',
      current: currentOf(store.record),
    });
    expect(signatures).toBe(0);
  });

  it('[WR-30] a request that is not there is not found', async () => {
    const gone = pendingRecord({ requestId: 'gone' });

    expect(await codeOf(decideRequest(leadProcess(), decideInput(gone)))).toBe('not_found');
  });

  it.each<[string, Partial<DecideInput>]>([
    ['a rejection that edits the plan', { outcome: 'rejected', approvedPlan: Buffer.from('# x') }],
    ['an approval without a mode', { permissionMode: null }],
    ['a request of another team', { team: 'other' }],
  ])('%s is refused before anything is reserved', async (_what, changes) => {
    expect(await codeOf(decideRequest(leadProcess(), input(changes)))).toBe('validation_failed');
    expect(store.held).toBeUndefined();
  });

  it('[WR-21] a contradiction about a request that is decided is told what stands', async () => {
    await decideRequest(leadProcess(), input());

    expect(await codeOf(decideRequest(leadProcess(), input({ permissionMode: null })))).toBe(
      'already_decided',
    );
  });

  it('[TM-30] a rejection grants no mode, whatever was sent', async () => {
    const { record } = await decideRequest(leadProcess(), input({ outcome: 'rejected' }));

    expect(record.decision).not.toHaveProperty('permissionMode');
  });
});

describe('deciding again', () => {
  it('[WR-21] the same in the same words is answered with the first one, unchanged and unsigned', async () => {
    const first = await decideRequest(leadProcess(), input());
    time.pass(60_000);
    const fromOldRecord = await decideRequest(leadProcess(), input());
    const fromNewRecord = await decideRequest(leadProcess(), { ...input(), record: store.record });

    expect([fromOldRecord.kind, fromNewRecord.kind]).toEqual(['replayed', 'replayed']);
    expect([fromOldRecord.record, fromNewRecord.record]).toEqual([first.record, first.record]);
    expect(signatures).toBe(1);
  });

  const edit = Buffer.from('# Edited\n');
  const plan = Buffer.from('# Plan\n\nRename the function.\n');
  it.each<[string, Partial<DecideInput>]>([
    ['decider', { decidedBy: 'local:eve' }],
    ['outcome', { outcome: 'rejected' }],
    ['outcome of the same mode', { outcome: 'teleport' }],
    ['mode', { permissionMode: 'default' }],
    ['context', { context: 'clear' }],
    ['digest', { planDigest: digestOfText('older') }],
    ['digest, edited into the same plan', { planDigest: digestOfText('older'), approvedPlan: plan }],
    ['edit', { approvedPlan: edit }],
    ['scope', { scope: { write: [], run: [], tools: [] } }],
    ['feedback', { feedback: 'Other words.' }],
    ['images', { images: [] }],
  ])('[WR-21] with another %s is a conflict that names what stands', async (_what, changes) => {
    await decideRequest(leadProcess(), input());

    await expect(decideRequest(leadProcess(), input(changes))).rejects.toMatchObject({
      code: 'already_decided',
      current: currentOf(store.record),
    });
    expect(signatures).toBe(1);
  });

  it('[WR-21] notices and policy are not words of the lead', async () => {
    await decideRequest(leadProcess(), input());

    expect(
      (await decideRequest(leadProcess(), input({ notices: [], policyDigest: digestOfText('p') }))).kind,
    ).toBe('replayed');
  });

  it('[WR-21] an empty feedback says what none says', async () => {
    await decideRequest(leadProcess(), input({ feedback: '' }));

    expect((await decideRequest(leadProcess(), input({ feedback: undefined }))).kind).toBe('replayed');
  });

  it.each(['timeout', 'withdrawn'] as const)('[WR-24] of a request that is %s, says so', async (state) => {
    store.record = { ...pending, state };

    await expect(decideRequest(leadProcess(), input())).rejects.toMatchObject({
      code: 'already_decided',
      current: { state, outcome: state },
    });
    expect(signatures).toBe(0);
  });

  it('[IN-3] of a request that was superseded, names its successor and signs nothing', async () => {
    store.record = { ...pending, state: 'superseded', supersededBy: 'next' };

    await expect(decideRequest(leadProcess(), input())).rejects.toMatchObject({
      code: 'superseded',
      current: { supersededBy: 'next' },
    });
    expect(signatures).toBe(0);
  });

  it('[WR-24] after the deadline, finds the timeout', async () => {
    time.pass(3_600_000);

    await expect(decideRequest(leadProcess(), input())).rejects.toMatchObject({
      current: { outcome: 'timeout' },
    });
  });
});

describe('rivals', () => {
  const rivals = (count: number, deps: () => DecideDeps) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        codeOf(decideRequest(deps(), input({ decidedBy: `local:${index}` }))),
      ),
    );

  it('[WR-20][IN-3] of one process: one decides, none of the others signs anything', async () => {
    const shared = leadProcess();
    const answers = await rivals(50, () => shared);

    expect(answers.filter((answer) => answer === 'fulfilled')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'already_decided')).toHaveLength(49);
    expect(signatures).toBe(1);
  });

  it('[WR-20][IN-3] of several processes: the others wait, and none of them signs anything', async () => {
    const answers = await rivals(10, () => leadProcess());

    expect(answers.filter((answer) => answer === 'already_decided')).toHaveLength(9);
    expect(signatures).toBe(1);
  });

  it('[WR-20] wait for one that vanished with its reservation, until it lapses', async () => {
    store.held = { token: 'vanished', untilMs: time.nowMs + 5000 };
    const startedAtMs = time.nowMs;
    const { kind } = await decideRequest(leadProcess(), input());

    expect(kind).toBe('decided');
    expect(time.nowMs - startedAtMs).toBeGreaterThanOrEqual(5000);
    expect(time.nowMs - startedAtMs).toBeLessThan(5100);
  });

  it('[WR-30] wait for 10 s and no longer', async () => {
    const startedAtMs = time.nowMs;
    store.reserve = async () => ({ kind: 'busy', freeInMs: 5000 });

    expect(await codeOf(decideRequest(leadProcess(), input()))).toBe('store_unavailable');
    expect(time.nowMs - startedAtMs).toBeLessThan(10_100);
    expect(signatures).toBe(0);
  });

  it('stop waiting when the caller is gone', async () => {
    store.held = { token: 'vanished', untilMs: time.nowMs + 5000 };

    expect(await codeOf(decideRequest(leadProcess(), input({ signal: AbortSignal.abort('gone') })))).toBe(
      'gone',
    );
    expect(signatures).toBe(0);
  });

  it('nothing is reserved or signed for a caller who is gone', async () => {
    expect(await codeOf(decideRequest(leadProcess(), input({ signal: AbortSignal.abort('gone') })))).toBe(
      'gone',
    );
    expect([store.held, signatures]).toEqual([undefined, 0]);
  });
});

describe('a commit', () => {
  it('[WR-20] is not sent when signing took longer than 2 s; the next round decides', async () => {
    let slow = 2001;
    const deps = leadProcess();
    const { record, kind } = await decideRequest(
      {
        ...deps,
        signer: {
          kid: lead.kid,
          sign: (typ, claims) => {
            time.pass(slow);
            slow = 0;
            return deps.signer.sign(typ, claims);
          },
        },
      },
      input(),
    );

    expect(kind).toBe('decided');
    expect(signatures).toBe(2);
    expect(store.commits).toEqual([record.decision]);
    expect(record.decision?.decidedAt).toBe(toTimestamp(time.nowMs));
  });

  it('[WR-20] is not sent when the answer to the reservation was longer than 2 s on its way', async () => {
    const reserve = store.reserve.bind(store);
    let late = 2001;
    store.reserve = async (command) => {
      const result = await reserve(command);
      time.pass(late);
      late = 0;
      return result;
    };
    await decideRequest(leadProcess(), input());

    expect(signatures).toBe(2);
    expect(store.commits).toHaveLength(1);
  });

  it('[WR-20] is sent at 2 s', async () => {
    await decideRequest(leadProcess(2000), input());

    expect(store.commits).toHaveLength(1);
  });

  it('[WR-20] that finds its reservation lapsed leaves the request pending, and is made anew', async () => {
    const commit = store.commit.bind(store);
    store.commit = async (command) => {
      if (store.commits.length === 0) time.pass(5000);
      return commit(command);
    };
    const { record } = await decideRequest(leadProcess(), input());

    expect(store.commits).toHaveLength(2);
    expect(store.record.decision).toEqual(record.decision);
    expect(record.decision?.signature).toBe(store.commits[1]?.signature);
  });

  it('[WR-20] without an answer that happened is found, and is a decision and no replay', async () => {
    const commit = store.commit.bind(store);
    store.commit = async (command) => {
      await commit(command);
      throw noAnswer();
    };
    const { kind, record } = await decideRequest(leadProcess(), input());

    expect(kind).toBe('decided');
    expect(record).toEqual(store.record);
    expect(signatures).toBe(1);
  });

  it('[WR-20] without an answer that did not happen is made anew once nothing of it can arrive', async () => {
    const commit = store.commit.bind(store);
    const startedAtMs = time.nowMs;
    let lost = true;
    store.commit = async (command) => {
      if (!lost) return commit(command);
      lost = false;
      throw noAnswer();
    };
    const { kind } = await decideRequest(leadProcess(), input());

    expect(kind).toBe('decided');
    expect(time.nowMs - startedAtMs).toBeGreaterThanOrEqual(5000);
  });

  it('[WR-20] that arrives late, while its sender waits, is the one that stands', async () => {
    const commit = store.commit.bind(store);
    const deps = leadProcess();
    store.commit = async (command) => {
      deps.pause = async (ms) => {
        time.pass(ms);
        if (store.record.state === 'pending') await commit(command);
      };
      throw noAnswer();
    };
    const pause: DecideDeps['pause'] = (ms, signal) => deps.pause?.(ms, signal) ?? Promise.resolve();
    const { kind, record } = await decideRequest({ ...deps, pause }, input());

    expect(kind).toBe('decided');
    expect(record.decision).toEqual(store.record.decision);
    expect(signatures).toBe(1);
  });

  it('[WR-21][WR-30] without an answer, in a store that stays away, is unknown; the same call again tells', async () => {
    const commit = store.commit.bind(store);
    const get = store.get.bind(store);
    store.get = async () => Promise.reject(noAnswer());
    store.commit = async (command) => {
      await commit(command);
      throw noAnswer();
    };
    expect(await codeOf(decideRequest(leadProcess(), input()))).toBe('store_unavailable');
    store.get = get;

    expect((await decideRequest(leadProcess(), input())).kind).toBe('replayed');
  });

  it('carries the edited plan, and only an edited one', async () => {
    const edited = Buffer.from('# Edited\n');
    const seen: unknown[] = [];
    const commit = store.commit.bind(store);
    store.commit = (command) => {
      seen.push(command.editedPlan);
      return commit(command);
    };
    const { record } = await decideRequest(leadProcess(), input({ approvedPlan: edited }));
    store.record = pending;
    await decideRequest(
      leadProcess(),
      input({ approvedPlan: Buffer.from('# Plan\n\nRename the function.\n') }),
    );

    expect(seen).toEqual([{ digest: digestOfText('# Edited\n'), bytes: edited }, undefined]);
    expect(record.decision?.planEdited).toBe(true);
    expect(store.record.decision?.planEdited).toBe(false);
  });
});
