import { randomUUID } from 'node:crypto';
import {
  type CommitCommand,
  type CommitResult,
  connectRedis,
  createMailbox,
  keyOf,
  type Mailbox,
  type MailboxOptions,
  type RedisHandle,
  type SubmitCommand,
} from '@placet/mailbox';
import {
  type Decision,
  digestOfText,
  isPlacetError,
  newRequestId,
  newSessionId,
  type PlacetError,
  Policy,
  policyDigest,
  type RequestRecord,
  Submission,
  toTimestamp,
} from '@placet/protocol';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startRedis, type TestRedis, uniqueTeam } from '../../support/redis-server.ts';

export const teammate = 'worker-1';
export const owner = 'person:olga';

/** A team of its own in a Redis, and the stores to look at it with. */
export interface StoreWorld {
  readonly handle: RedisHandle;
  readonly mailbox: Mailbox;
  readonly team: string;
  close(): Promise<void>;
}

export async function openStore(url: string, options: MailboxOptions = {}): Promise<StoreWorld> {
  const handle = connectRedis({ url, name: 'test', timeoutMs: 5000 });
  await handle.ready();
  const mailbox = createMailbox(handle, options);
  const close = async () => {
    await mailbox.close();
    await handle.close();
  };
  return { handle, mailbox, team: uniqueTeam(), close };
}

/**
 * A Redis for all tests of a file, and for each of them a store of a team of its own, which `onOpen` gets; both are closed
 * again. Answers where that Redis is.
 */
export function useStore(
  options: MailboxOptions,
  onOpen: (world: StoreWorld) => void,
): { readonly url: string } {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    const world = await openStore(server.url, options);
    onOpen(world);
    return () => world.close();
  });
  afterAll(() => server.stop());
  return {
    get url() {
      return server.url;
    },
  };
}

/** Another process' view of the same team: a connection and stores of its own. */
export async function rivalOf(
  world: StoreWorld,
  url: string,
  options: MailboxOptions = {},
): Promise<StoreWorld> {
  return { ...(await openStore(url, options)), team: world.team };
}

export type Changes = Partial<Submission> & { teammate?: string };

/** What a teammate of the world submits, unless the changes say otherwise. */
export function submissionOf(
  world: StoreWorld,
  { teammate: sender = teammate, ...changes }: Changes = {},
): Submission {
  return Submission.parse({
    requestId: newRequestId(sender, world.team),
    planFilePath: '/home/ada/.placet/plans/calm-river.md',
    planContent: '# Plan\n\n1. Rename the option.\n',
    sessionId: newSessionId(),
    ...changes,
  });
}

export function commandOf(world: StoreWorld, submission: Submission, sender = teammate): SubmitCommand {
  const { team } = world;
  return { team, teammate: sender, owner, submission, policyDigest: policyDigest(Policy.parse({})) };
}

/** Submits; answers the record. */
export async function submit(world: StoreWorld, changes: Changes = {}): Promise<RequestRecord> {
  const command = commandOf(world, submissionOf(world, changes), changes.teammate);
  return (await world.mailbox.requests.submit(command)).record;
}

export interface Deciding {
  outcome?: Decision['outcome'];
  by?: string;
  /** How long the approval may wait for its work. */
  notAfterMs?: number;
  editedPlan?: string;
}

/** What a lead sends to commit; the signature is not looked at by the store. */
export function commitOf(
  record: RequestRecord,
  { token, nowMs }: { token: string; nowMs: number },
  { outcome = 'approved', by = 'lead:ada', notAfterMs = 60_000, editedPlan }: Deciding = {},
): CommitCommand {
  const { team, sessionId, requestId, plan } = record;
  const edited = editedPlan === undefined ? undefined : digestOfText(editedPlan);
  const decision: Decision = {
    outcome,
    ...(outcome === 'approved' && { permissionMode: 'acceptEdits' }),
    planEdited: edited !== undefined,
    approvedPlanDigest: edited ?? plan.digest,
    decidedBy: by,
    decidedAt: toTimestamp(nowMs),
    notices: [],
    images: [],
    signature: `header.${by}.signature`,
  };
  return {
    team,
    teammate: record.teammate,
    sessionId,
    requestId,
    token,
    decision,
    jti: randomUUID(),
    decidedAtMs: nowMs,
    notAfterMs: nowMs + notAfterMs,
    ...(editedPlan !== undefined &&
      edited && { editedPlan: { digest: edited, bytes: Buffer.from(editedPlan) } }),
  };
}

/** Reserves; fails the test unless that is granted. */
export async function reserve(world: StoreWorld, record: RequestRecord, token: string = randomUUID()) {
  const { team, requestId, plan } = record;
  const command = { team, teammate: record.teammate, requestId, planDigest: plan.digest, token };
  const reserved = await world.mailbox.requests.reserve(command);
  if (reserved.kind !== 'reserved') throw new Error(`not reserved: ${reserved.kind}`);
  return { token, nowMs: reserved.nowMs };
}

/** Reserves and commits. */
export async function decide(
  world: StoreWorld,
  record: RequestRecord,
  how: Deciding = {},
): Promise<CommitResult> {
  return world.mailbox.requests.commit(commitOf(record, await reserve(world, record), how));
}

export function nameOf({ team, teammate: sender, requestId }: RequestRecord) {
  return { team, teammate: sender, requestId };
}

/** The record as it is now; fails the test when there is none. */
export async function recordOf(
  world: StoreWorld,
  { requestId }: { requestId: string },
): Promise<RequestRecord> {
  const record = await world.mailbox.requests.get(world.team, requestId);
  if (!record) throw new Error(`there is no request ${requestId}`);
  return record;
}

/** Moves a request's deadline into the past, as the passing of time does. */
export async function passDeadline(world: StoreWorld, record: RequestRecord): Promise<void> {
  const key = keyOf(world.team, 'request', record.teammate, record.requestId);
  const text = (await world.handle.redis.get(key)) ?? '';
  const [seconds = '0'] = (await world.handle.redis.time()).map(String);
  const deadline = Number(seconds) * 1000 - 1000;
  await world.handle.redis.set(key, text.replace(/"dl":\d+}$/, `"dl":${deadline}}`));
  await world.handle.redis.zadd(keyOf(world.team, 'deadlines'), 'XX', deadline, record.requestId);
}

/** The code that a call fails with; fails the test when it succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<PlacetError> {
  try {
    await call;
  } catch (error) {
    if (isPlacetError(error)) return error;
    throw error;
  }
  throw new Error('it succeeded');
}

/** What a team's numbered streams hold: the numbers in order, and the last that was given out. */
export async function numbersOf(world: StoreWorld, log: 'events' | 'audit' | 'outbox') {
  const entries = await world.handle.redis.xrange(keyOf(world.team, log), '-', '+');
  const field = { events: 'event', audit: 'audit', outbox: 'outbox' }[log];
  const last = Number((await world.handle.redis.hget(keyOf(world.team, 'sequence'), field)) ?? 0);
  return { ids: entries.map(([id]) => id), last };
}

/** The IDs that a numbered stream has when nothing is missing. */
export function gapless(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${place + 1}-0`);
}

/** The entries of a stream, as objects. */
export async function entriesOf(world: StoreWorld, key: string): Promise<Record<string, string>[]> {
  const entries = await world.handle.redis.xrange(key, '-', '+');
  return entries.map(([, fields]) => {
    const pairs = fields.flatMap((field, place) =>
      place % 2 === 0 ? [[field, fields[place + 1] ?? '']] : [],
    );
    return Object.fromEntries(pairs);
  });
}

/** Every key of the team with its content, for telling that nothing changed. */
export async function contentOf(world: StoreWorld): Promise<Record<string, unknown>> {
  const { redis } = world.handle;
  const content: Record<string, unknown> = {};
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `placet:{${world.team}}:*`, 'COUNT', 1000);
    cursor = next;
    for (const key of keys) content[key] = (await redis.dumpBuffer(key))?.toString('base64');
  } while (cursor !== '0');
  return content;
}
