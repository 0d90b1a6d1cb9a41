import { createHmac } from 'node:crypto';
import {
  createSigner,
  type DecideInput,
  decideRequest,
  keyOf,
  type Signer,
  type TaskQueues,
} from '@placet/mailbox';
import { type Decision, decisionType, type RequestRecord } from '@placet/protocol';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import type { FaultWorld } from './fault-world.ts';

/** Somebody who can write to Redis, and everything that they may have overheard. */
export class Forger {
  readonly #world: FaultWorld;
  readonly #queues: TaskQueues;
  #wakes = 1000;

  constructor(world: FaultWorld, queues: TaskQueues) {
    this.#world = world;
    this.#queues = queues;
  }

  get redis() {
    return this.#world.handle.redis;
  }

  /** A decision as the lead would sign it, which no store was told of. `nowMs` is when it was made. */
  async genuine(
    record: RequestRecord,
    changes: Partial<DecideInput> = {},
    nowMs = Date.now(),
  ): Promise<Decision> {
    return signedBy(await this.#world.keyRing.activeSigner(), record, changes, nowMs);
  }

  /** Writes a decision over a request: its state, the decision and whatever else says that it is decided. */
  async put(
    { team, teammate, requestId, sessionId }: RequestRecord,
    decision: object | undefined,
    state = 'approved',
  ): Promise<void> {
    const now = Date.now();
    const transaction = this.redis.multi();
    if (decision) transaction.set(keyOf(team, 'decision', requestId), JSON.stringify(decision));
    await transaction
      .hset(keyOf(team, 'requestState', teammate, requestId), {
        v: 1,
        st: state,
        ea: now,
        da: now,
        na: now + 60 * 60 * 1000,
        jti: 'forged',
      })
      .zrem(keyOf(team, 'pending'), requestId)
      .zrem(keyOf(team, 'deadlines'), requestId)
      .zadd(keyOf(team, 'ended'), 1, requestId)
      .zadd(keyOf(team, 'due'), now + 60_000, `${teammate}:${sessionId}`)
      .xadd(keyOf(team, 'inbox', teammate), '*', 'r', requestId)
      .exec();
  }

  /** Wakes a session by a job of the forger's own. */
  async wake({
    team,
    teammate,
    sessionId,
  }: Pick<RequestRecord, 'team' | 'teammate' | 'sessionId'>): Promise<void> {
    this.#wakes += 1;
    await this.#queues.enqueueWake(team, teammate, sessionId, this.#wakes);
  }
}

/** A signer with a key of the forger's own, under any name. */
export async function strangersSigner(kid = 'a'.repeat(43)): Promise<Signer> {
  const { privateKey } = await generateKeyPair('EdDSA');
  return createSigner(kid, privateKey);
}

/** Signs a decision without a store, as whoever has a key can. */
export async function signedBy(
  signer: Signer,
  record: RequestRecord,
  changes: Partial<DecideInput> = {},
  nowMs = Date.now(),
): Promise<Decision> {
  const requests = {
    get: () => Promise.resolve(record),
    reserve: () => Promise.resolve({ kind: 'reserved', nowMs } as const),
    commit: () => Promise.resolve({ kind: 'committed' } as const),
    confirm: () => Promise.resolve(),
  };
  const decided = await decideRequest(
    { requests, signer },
    {
      team: record.team,
      record: { ...record, state: 'pending' },
      outcome: 'approved',
      planDigest: record.plan.digest,
      permissionMode: 'acceptEdits',
      context: 'keep',
      decidedBy: 'local:ada',
      notAfterMs: 60 * 60 * 1000,
      policyDigest: record.policyDigest,
      notices: [],
      ...changes,
    },
  );
  const { decision } = decided.record;
  if (!decision) throw new Error('nothing was signed');
  return decision;
}

/** The same claims with `alg: none`, and no signature or one of zeros. */
export function withoutAlgorithm({ signature }: Decision, kid: string, mac: string): string {
  const [, payload] = signature.split('.');
  return `${encode({ alg: 'none', kid, typ: decisionType })}.${payload}.${mac}`;
}

/** The same claims with a MAC under the lead's public key, padded to the length of a signature. */
export async function underPublicKey({ signature }: Decision, x: string, kid: string): Promise<string> {
  const [, payload] = signature.split('.');
  const signed = `${encode({ alg: 'HS256', kid, typ: decisionType })}.${payload}`;
  const mac = createHmac('sha256', Buffer.from(x, 'base64url')).update(signed).digest();
  return `${signed}.${Buffer.concat([mac, mac]).toString('base64url')}`;
}

/** The same claims signed by a key of the forger's, which the header carries. */
export async function withOwnKeyInside({ signature }: Decision, kid: string): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  return new CompactSign(Buffer.from(signature.split('.')[1] ?? '', 'base64url'))
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: decisionType, jwk: await exportJWK(publicKey) })
    .sign(privateKey);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
