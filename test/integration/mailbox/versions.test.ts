import { keyOf } from '@placet/mailbox';
import { newSessionId, type RequestRecord } from '@placet/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import {
  commandOf,
  commitOf,
  contentOf,
  decide,
  failureOf,
  nameOf,
  openStore,
  passDeadline,
  recordOf,
  reserve,
  rivalOf,
  type StoreWorld,
  submissionOf,
  submit,
  teammate,
} from './store-world.ts';

let server: OwnRedis;
let world: StoreWorld;

beforeAll(async () => {
  server = await startOwnRedis();
});
beforeEach(async () => {
  world = await openStore(server.url, { reconcileAfterMs: 1 });
  return () => world.close();
});
afterAll(() => server.stop());

/** Writes into a record the version that a later release would. */
async function makeNewer(key: string): Promise<void> {
  const { redis } = world.handle;
  if ((await redis.type(key)) === 'string') {
    await redis.set(key, ((await redis.get(key)) ?? '').replace(/^\{"v":1/, '{"v":2'));
  } else await redis.hset(key, 'v', 2);
}

const lease = (sessionId: string) => ({ sessionId, epoch: 1, leftover: undefined });

/** A request whose session has a task, is held under epoch 1 and, where the call needs it, decided. */
async function prepared(state: 'pending' | 'approved' | 'claimed'): Promise<RequestRecord> {
  const sessionId = newSessionId();
  const { team, mailbox } = world;
  const name = { team, teammate, sessionId };
  await mailbox.tasks.open(name, { task: 't', team, cwd: '/src', agent: 'codemod' });
  await mailbox.tasks.hold(name, 'h', 60_000);
  const record = await submit(world, { sessionId });
  if (state !== 'pending') await decide(world, record);
  if (state === 'claimed') await mailbox.requests.claim(nameOf(record), 'h', 60_000);
  return record;
}

type Kind = 'request' | 'requestState' | 'session' | 'task';

const calls: [
  string,
  'pending' | 'approved' | 'claimed',
  Kind[],
  (record: RequestRecord) => Promise<unknown>,
][] = [
  [
    'submit again',
    'pending',
    ['request', 'session'],
    (record) => {
      const { requestId, sessionId } = record;
      return world.mailbox.requests.submit(commandOf(world, submissionOf(world, { requestId, sessionId })));
    },
  ],
  [
    'submit a successor',
    'pending',
    ['request', 'requestState', 'session'],
    ({ sessionId }) => submit(world, { sessionId, planContent: 'better' }),
  ],
  ['reserve', 'pending', ['request', 'requestState'], (record) => reserve(world, record)],
  [
    'commit',
    'pending',
    ['request', 'requestState', 'session'],
    (record) => world.mailbox.requests.commit(commitOf(record, { token: 't', nowMs: 0 })),
  ],
  [
    'expire',
    'pending',
    ['requestState', 'session'],
    async (record) => {
      await passDeadline(world, record);
      return world.mailbox.requests.expire(world.team, record.requestId);
    },
  ],
  [
    'withdraw',
    'pending',
    ['request', 'requestState', 'session'],
    (record) => world.mailbox.requests.withdraw(nameOf(record)),
  ],
  [
    'claim',
    'approved',
    ['request', 'requestState', 'session'],
    (record) => world.mailbox.requests.claim(nameOf(record), 'h', 60_000),
  ],
  [
    'say that it was delivered',
    'approved',
    ['request', 'requestState'],
    (record) => world.mailbox.requests.markDelivered(nameOf(record)),
  ],
  [
    'say that it was applied',
    'claimed',
    ['request', 'requestState'],
    (record) => world.mailbox.requests.markApplied(nameOf(record), 1, 'default'),
  ],
  [
    'settle',
    'claimed',
    ['request', 'requestState', 'session'],
    (record) => world.mailbox.requests.settle(nameOf(record), { epoch: 1, state: 'done' }),
  ],
  [
    'wake',
    'approved',
    ['requestState', 'session'],
    async (record) => {
      await world.handle.redis.zadd(keyOf(world.team, 'due'), 1, `${teammate}:${record.sessionId}`);
      return world.mailbox.requests.wakeDue(world.team, 10);
    },
  ],
  ['read', 'approved', ['request'], (record) => recordOf(world, record)],
  [
    'open a task',
    'pending',
    ['task', 'session'],
    ({ team, sessionId }) =>
      world.mailbox.tasks.open(
        { team, teammate, sessionId },
        { task: 't', team, cwd: '/src', agent: 'codemod' },
      ),
  ],
  [
    'read a task',
    'pending',
    ['task', 'session'],
    ({ team, sessionId }) => world.mailbox.tasks.get({ team, teammate, sessionId }),
  ],
  [
    'hold a session',
    'pending',
    ['task', 'session'],
    ({ team, sessionId }) => world.mailbox.tasks.hold({ team, teammate, sessionId }, 'h', 1000),
  ],
  [
    'renew',
    'pending',
    ['session'],
    ({ team, sessionId }) => world.mailbox.tasks.renew({ team, teammate, sessionId }, lease(sessionId), 1000),
  ],
  [
    'report a posture',
    'pending',
    ['session'],
    ({ team, sessionId }) => world.mailbox.sessions.report({ team, teammate, sessionId }, { mode: 'plan' }),
  ],
  [
    'save a draft',
    'pending',
    ['session'],
    ({ team, sessionId }) => world.mailbox.sessions.saveDraft({ team, teammate, sessionId }, 'x'),
  ],
  [
    'order a session about',
    'pending',
    ['session'],
    ({ team, sessionId }) =>
      world.mailbox.sessions.order({
        team,
        teammate,
        sessionId,
        mode: 'plan',
        by: 'lead:ada',
        sign: async () => 'signed',
      }),
  ],
  [
    'ask',
    'pending',
    ['session', 'task'],
    ({ team, sessionId }) => world.mailbox.questions.ask({ team, teammate, asking: consentOf(sessionId) }),
  ],
  [
    'change a task',
    'pending',
    ['session'],
    ({ team, sessionId }) =>
      world.mailbox.tasks.change({ team, teammate, sessionId }, lease(sessionId), { phase: 'failed' }),
  ],
];

const consentOf = (sessionId: string) => ({ type: 'consent_request', requestId: 'c', sessionId }) as const;

describe('records of a later release', () => {
  it.each(calls.flatMap(([what, state, kinds, call]) => kinds.map((kind) => ({ what, kind, state, call }))))(
    '[ST-2] $what: a newer $kind is left alone, and the caller is told to upgrade',
    async ({ kind, state, call }) => {
      const record = await prepared(state);
      const id = kind === 'session' || kind === 'task' ? record.sessionId : record.requestId;
      await makeNewer(keyOf(world.team, kind, teammate, id));
      const before = await contentOf(world);
      const error = await failureOf(call(record));

      expect(error.code).toBe('too_new');
      const changed = Object.entries(await contentOf(world)).filter(
        ([key, content]) => before[key] !== content,
      );
      // Where the call first moved the deadline or the time to look, the test did that itself.
      expect(changed.map(([key]) => key).filter((key) => !/:(deadlines|due)$|:req:/.test(key))).toEqual([]);
    },
  );

  it.each(['question', 'questionEnd', 'session'] as const)(
    '[ST-2] a question whose %s is newer is neither read, asked again, answered nor purged',
    async (kind) => {
      const { questions } = world.mailbox;
      const { team } = world;
      const { sessionId } = await prepared('pending');
      const requestId = `c-${sessionId}`;
      const asking = { ...consentOf(sessionId), requestId };
      await questions.ask({ team, teammate, asking });
      const answer = { team, requestId, body: { consent: 'declined' as const }, by: 'lead:ada' };
      if (kind === 'questionEnd') await questions.answer(answer);
      await makeNewer(keyOf(team, kind, teammate, kind === 'session' ? sessionId : requestId));
      const before = await contentOf(world);
      const calls: (() => Promise<unknown>)[] = [
        () => questions.answer(answer),
        () => questions.ask({ team, teammate, asking }),
      ];
      if (kind !== 'session') calls.push(() => questions.get(team, requestId));
      for (const call of calls) expect((await failureOf(call())).code).toBe('too_new');
      const forgetful = await rivalOf(world, server.url, { retentionMs: -60_000 });
      await forgetful.mailbox.questions.purge(team, 10).catch(() => 0);
      await forgetful.close();
      expect(await contentOf(world)).toEqual(before);
    },
  );

  it('[ST-2] purge: a newer record is kept, and does not keep older ones', async () => {
    const forgetful = await rivalOf(world, server.url, { retentionMs: 1 });
    const [kept, gone] = [await submit(world), await submit(world)];
    for (const record of [kept, gone]) await world.mailbox.requests.withdraw(nameOf(record));
    await makeNewer(keyOf(world.team, 'requestState', teammate, kept.requestId));
    await expect
      .poll(async () => {
        await forgetful.mailbox.requests.purge(world.team, 10).catch(() => 0);
        return world.handle.redis.zrange(keyOf(world.team, 'ended'), '0', '-1');
      })
      .toEqual([kept.requestId]);
    await forgetful.close();
  });
});

describe('the scripts', () => {
  it('[ST-2] are known by their content: a server that forgot them is taught again', async () => {
    await submit(world);
    await world.handle.redis.script('FLUSH');
    const record = await submit(world);
    await decide(world, record);
    expect((await recordOf(world, record)).state).toBe('approved');
  });

  it('[WR-30] [TM-44] fail as store_unavailable, in time, when Redis does not answer', async () => {
    const hasty = await rivalOf(world, server.url);
    const record = await submit(world);
    server.pause();
    const startedAt = performance.now();
    const calls = [
      submit(hasty),
      recordOf(hasty, record),
      hasty.mailbox.requests.list(world.team, { limit: 5 }),
      hasty.mailbox.requests.withdraw(nameOf(record)),
    ];
    const errors = await Promise.all(calls.map(failureOf));
    const tookMs = performance.now() - startedAt;
    server.resume();
    await hasty.close();

    expect(errors.map(({ code }) => code)).toEqual(errors.map(() => 'store_unavailable'));
    expect(errors.every(({ retryAfterMs }) => retryAfterMs !== undefined)).toBe(true);
    expect(tookMs).toBeLessThan(8000);
  });

  it('[TM-44] fail at the caller, and leave the record as it was, when Redis refuses to write', async () => {
    const record = await submit(world);
    const before = await contentOf(world);
    await world.handle.redis.config('SET', 'maxmemory', '1');
    const errors = await Promise.all([submit(world), decide(world, record)].map(failureOf));
    await world.handle.redis.config('SET', 'maxmemory', '0');

    expect(errors.map(({ code }) => code)).toEqual(['store_unavailable', 'store_unavailable']);
    expect(await contentOf(world)).toEqual(before);
  });

  it('[TM-44] fail as a fault of Redis or of ours where a key is of another type', async () => {
    const submission = submissionOf(world);
    await world.handle.redis.set(keyOf(world.team, 'session', teammate, submission.sessionId), 'no hash');
    expect((await failureOf(world.mailbox.requests.submit(commandOf(world, submission)))).code).toBe(
      'internal',
    );
  });

  it('[I4] what was acknowledged is there after the server was killed', async () => {
    const own = await startOwnRedis(['--appendfsync', 'always']);
    const before = await openStore(own.url);
    const record = await submit(before);
    await decide(before, record);
    await own.kill9();
    await own.restart();
    const after = await rivalOf(before, own.url);
    expect(await recordOf(after, record)).toMatchObject({
      state: 'approved',
      decision: { decidedBy: 'lead:ada' },
    });
    await Promise.all([before.close(), after.close()]);
    await own.stop();
  });
});
