import { join } from 'node:path';
import { createOwnerProof, createToken, keyOf, Revocations, type TokenSpec } from '@placet/mailbox';
import { digestOfText, Problem, RequestRecord } from '@placet/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../support/eventually.ts';
import { strangersSigner } from '../support/fault-forger.ts';
import { readAllEvents } from '../support/fault-history.ts';
import { type HttpAnswer, HttpCaller } from '../support/fault-http.ts';
import { TrafficWatch } from '../support/fault-traffic.ts';
import { type FaultLead, FaultWorld } from '../support/fault-world.ts';

const teammate = 'worker';
const owner = `local:owner-of-${teammate}`;
let world: FaultWorld;
let lead: FaultLead;
let http: HttpCaller;
let traffic: TrafficWatch;
let teammateToken: string;

beforeAll(async () => {
  world = await FaultWorld.open();
  lead = await world.startLead();
  http = new HttpCaller(32);
  traffic = await TrafficWatch.start(world.redis.port);
  teammateToken = await world.teammateToken(teammate);
});
afterAll(async () => {
  http.close();
  traffic.close();
  await world.close();
});

/** A caller who must not decide; `before` is what was written into Redis to make it possible. */
interface Caller {
  name: string;
  token: () => Promise<string>;
  before?: (own: RequestRecord) => Promise<unknown>;
  status: number;
  code: string;
  alarm?: string;
}

const of = (spec: Partial<TokenSpec>) => () => world.token(spec);
const leadToken = of({ principal: 'local:ada' });
const setProof = async (proof: string | Promise<string>) =>
  world.handle.redis.set(keyOf(world.team, 'owner', teammate), await proof);
const proofOf = async (changes: Partial<Record<'team' | 'teammate' | 'owner', string>>) =>
  createOwnerProof(
    await world.keyRing.activeSigner(),
    { team: world.team, teammate, owner: 'local:nobody', ...changes },
    Date.now(),
  );
const setOwner = async ({ requestId }: RequestRecord, name: string) => {
  const key = keyOf(world.team, 'request', teammate, requestId);
  const text = (await world.handle.redis.get(key)) ?? '';
  return world.handle.redis.set(key, text.replace(`"${owner}"`, `"${name}"`));
};

const selfApproval = { status: 403, code: 'self_approval_forbidden' } as const;
const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
const forbidden = { status: 403, code: 'forbidden' } as const;

const callers: Caller[] = [
  { name: 'nobody', token: () => Promise.resolve('plt_'), ...unauthenticated },
  {
    name: "a token by a stranger's key under the lead's name",
    token: async () => {
      const { kid } = await world.keyRing.activeSigner();
      const spec = { principal: 'local:ada', role: 'lead' as const, teams: [world.team], nowMs: Date.now() };
      return (await createToken(await strangersSigner(kid), spec)).token;
    },
    ...unauthenticated,
  },
  {
    name: 'a token that has expired',
    token: of({ nowMs: Date.now() - 7_200_000, expiresInMs: 3_600_000 }),
    ...unauthenticated,
  },
  {
    name: 'a revoked token whose revocation was taken out of Redis',
    token: revokedToken,
    ...unauthenticated,
  },
  { name: "the teammate's own token", token: () => Promise.resolve(teammateToken), ...forbidden },
  { name: "another teammate's token", token: () => world.teammateToken('other'), ...forbidden },
  { name: 'an observer', token: of({ role: 'observer' }), ...forbidden },
  { name: 'an operator', token: of({ role: 'operator' }), ...forbidden },
  { name: 'a poller', token: of({ role: 'poller' }), ...forbidden },
  { name: 'the lead of another team', token: of({ teams: ['another'] }), status: 404, code: 'not_found' },
  { name: 'the owner with the role of a lead', token: of({ principal: owner }), ...selfApproval },
  {
    name: 'the owner, after another owner was written into the record',
    token: of({ principal: owner }),
    before: (own) => setOwner(own, 'local:somebody-else'),
    ...selfApproval,
    alarm: 'owner_differs',
  },
  {
    name: "the owner, after a true proof of another teammate's owner was put there",
    token: of({ principal: owner }),
    before: () => setProof(proofOf({ teammate: 'other' })),
    ...selfApproval,
    alarm: 'owner_unproven',
  },
  {
    name: 'the owner, after a proof of another team was put there',
    token: of({ principal: owner }),
    before: () => setProof(proofOf({ team: 'another' })),
    ...selfApproval,
    alarm: 'owner_unproven',
  },
  {
    name: "the owner, after a proof by a stranger's key was put there",
    token: of({ principal: owner }),
    before: async () => {
      const { kid } = await world.keyRing.activeSigner();
      const ownership = { team: world.team, teammate, owner: 'local:nobody' };
      await setProof(createOwnerProof(await strangersSigner(kid), ownership, Date.now()));
    },
    ...selfApproval,
    alarm: 'owner_unproven',
  },
  {
    name: 'any lead, after the proof was taken away',
    token: leadToken,
    before: () => world.handle.redis.del(keyOf(world.team, 'owner', teammate)),
    ...selfApproval,
    alarm: 'owner_unproven',
  },
];

describe('the lead signs nothing', () => {
  it('[IN-6] unless somebody with the right to it decides, and then one decision', async () => {
    const own = await submit();
    const answer = await decide(own, await leadToken());
    expect(answer.status, answer.text).toBe(200);
    const { decision } = RequestRecord.parse(JSON.parse(answer.text));
    expect(await traffic.signaturesOf(own.requestId)).toEqual([decision?.signature]);
  });

  it.each(callers)(
    '[I5] [WR-32] [IN-6] [TM-10] [TM-32] for $name',
    async ({ token, before, status, code, alarm }) => {
      const own = await submit();
      await before?.(own);
      const answer = await decide(own, await token());

      expect([answer.status, Problem.parse(JSON.parse(answer.text)).code]).toEqual([status, code]);
      expect(await traffic.signaturesOf(own.requestId)).toEqual([]);
      expect((await world.mailbox.requests.get(world.team, own.requestId))?.state).toBe('pending');
      expect(await alarmsOf(own)).toEqual(alarm ? [alarm] : []);
    },
  );

  it('[IN-5] [WR-22] for a plan that was exchanged in Redis before it was read', async () => {
    const own = await submit();
    const exchanged = '# Plan\n\nDelete everything.\n';
    const packed = Buffer.from(own.plan.digest.slice('sha256:'.length), 'hex').toString('base64url');
    await world.handle.redis.set(keyOf(world.team, 'plan', packed), exchanged);
    const token = await leadToken();
    const { text: read } = await http.get(world.requestUrl(lead, own.requestId, '/plan'), { token });
    expect(read).toBe(exchanged);
    const answer = await decide(own, token, { planDigest: digestOfText(read) });

    expect([answer.status, Problem.parse(JSON.parse(answer.text)).code]).toEqual([409, 'stale_plan']);
    expect(await traffic.signaturesOf(own.requestId)).toEqual([]);
  });

  it('[TM-30] [IN-6] for a mode of the lead that it did not say: the default one is granted, with an alarm', async () => {
    const own = await submit();
    const key = keyOf(world.team, 'leadMode');
    await world.handle.redis.set(key, JSON.stringify({ mode: 'bypassPermissions' }));
    const answer = await decide(own, await leadToken(), { permissionMode: undefined });
    await world.handle.redis.del(key);

    expect(RequestRecord.parse(JSON.parse(answer.text)).decision?.permissionMode).toBe('default');
    expect(await alarmsOf(own)).toEqual(['lead_mode_unproven']);
  });

  const races = 40;

  it(`[IN-3] [WR-20] for the rival that loses, in ${races} races of an approval and a rejection at two services`, async () => {
    const rival = await world.startLead();
    const [ada, bob] = [await leadToken(), await world.token({ principal: 'local:bob' })];
    const winners = new Set<string>();
    for (let race = 0; race < races; race += 1) {
      const own = await submit();
      const approve = () => decide(own, ada);
      const reject = () =>
        decide(own, bob, { outcome: 'rejected', feedback: 'No.', permissionMode: undefined }, rival);
      await Promise.all(race % 2 === 0 ? [approve(), reject()] : [reject(), approve()]);
      const record = await world.mailbox.requests.get(world.team, own.requestId);
      winners.add(record?.state ?? '');
      expect(await traffic.signaturesOf(own.requestId)).toEqual([record?.decision?.signature]);
    }
    expect(winners).toEqual(new Set(['approved', 'rejected']));
  });
});

/** A token that was revoked; Redis was told, and then made to forget it. */
async function revokedToken(): Promise<string> {
  const { token, id } = await createToken(await world.keyRing.activeSigner(), {
    principal: 'local:ada',
    role: 'lead',
    teams: [world.team],
    nowMs: Date.now(),
  });
  const revocations = await Revocations.open(join(world.dataDir, 'keys'));
  await revocations.revoke(id);
  const key = keyOf(world.team, 'revoked');
  await world.handle.redis.hset(key, id, Date.now() + 3_600_000);
  await world.handle.redis.del(key);
  // The lead looks at its own file once a second.
  await eventually(async () => (await http.get(world.requestUrl(lead), { token })).status === 401);
  return token;
}

async function submit(): Promise<RequestRecord> {
  const body = world.submission(teammate, `# Plan ${performance.now()}\n`);
  const answer = await http.post(world.requestUrl(lead), { token: teammateToken, body });
  expect(answer.status, answer.text).toBe(201);
  return RequestRecord.parse(JSON.parse(answer.text));
}

function decide(
  own: RequestRecord,
  token: string,
  changes: Record<string, unknown> = {},
  at = lead,
): Promise<HttpAnswer> {
  const body = {
    outcome: 'approved',
    planDigest: own.plan.digest,
    permissionMode: 'acceptEdits',
    ...changes,
  };
  return http.post(world.requestUrl(at, own.requestId, '/decision'), { token, body });
}

async function alarmsOf({ requestId }: RequestRecord): Promise<string[]> {
  const events = await readAllEvents(world.mailbox, world.team);
  return events.flatMap((event) =>
    event.type === 'alarm' && event.requestId === requestId ? [z.string().parse(event.code)] : [],
  );
}
