import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLead, createLog, type Lead, type LeadConfig } from '@placet/lead';
import {
  connectRedis,
  createMailbox,
  createToken,
  KeyRing,
  type Mailbox,
  type MailboxOptions,
  type RedisHandle,
  RedisRevocations,
  Revocations,
  TaskQueues,
  type TokenSpec,
} from '@placet/mailbox';
import {
  type Clock,
  digestOfText,
  newRequestId,
  newSessionId,
  RequestRecord,
  resolveConfig,
  systemClock,
} from '@placet/protocol';
import { afterAll, beforeAll } from 'vitest';
import { startRedis, type TestRedis, uniqueTeam } from '../../support/redis-server.ts';

/** What a test may choose of its lead service. */
export interface WorldOptions {
  redisUrl: string;
  config?: Partial<LeadConfig>;
  storeTimeoutMs?: number;
  mailbox?: MailboxOptions;
  clock?: Clock;
  /** Keys and revocations; a fresh folder unless given. */
  dataDir?: string;
}

/** A call as `fetch` makes it, with its JSON body. */
export interface CallOptions {
  method?: string;
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** An answer, read. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON, where it is; checked by the assertions that read it. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes from outside is asserted field by field
  json: any;
}

/**
 * A Redis and a lead service for all tests of a file, which `onOpen` gets before the first; both are stopped again.
 * Answers where that Redis is.
 */
export function useLead(
  config: Partial<LeadConfig>,
  onOpen: (world: LeadWorld) => Promise<void> | void,
): { readonly url: string } {
  let redis: TestRedis;
  let world: LeadWorld;
  beforeAll(async () => {
    redis = await startRedis();
    world = await LeadWorld.open({ redisUrl: redis.url, config });
    await onOpen(world);
  });
  afterAll(async () => {
    await world.close();
    await redis.stop();
  });
  return {
    get url() {
      return redis.url;
    },
  };
}

/** A lead service in this process, with a real Redis and a real port. */
export class LeadWorld {
  readonly team = uniqueTeam();
  readonly lead: Lead;
  readonly handle: RedisHandle;
  readonly mailbox: Mailbox;
  readonly keyRing: KeyRing;
  readonly revocations: Revocations;
  readonly logged: string[];
  url = '';
  readonly #queues: TaskQueues;
  readonly #dataDir: string;
  readonly #ownsData: boolean;

  private constructor(parts: Omit<LeadWorldParts, never>) {
    this.lead = parts.lead;
    this.handle = parts.handle;
    this.mailbox = parts.mailbox;
    this.keyRing = parts.keyRing;
    this.revocations = parts.revocations;
    this.logged = parts.logged;
    this.#queues = parts.queues;
    this.#dataDir = parts.dataDir;
    this.#ownsData = parts.ownsData;
  }

  static async open(options: WorldOptions): Promise<LeadWorld> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'placet-lead-')));
    const logged: string[] = [];
    const log = createLog({ level: 'trace', destination: { write: (line) => void logged.push(line) } });
    const keyRing = await KeyRing.open(join(dataDir, 'keys'));
    const handle = connectRedis({
      url: options.redisUrl,
      name: 'test-lead',
      timeoutMs: options.storeTimeoutMs ?? 2000,
      log,
    });
    const mailbox = createMailbox(handle, options.mailbox);
    const revocations = await Revocations.open(join(dataDir, 'keys'), {
      store: new RedisRevocations(handle, mailbox.teams),
    });
    const queues = new TaskQueues(handle);
    const config = { ...resolveConfig([]).config, ...options.config };
    const clock = options.clock ?? systemClock;
    const lead = await createLead({ handle, mailbox, queues, keyRing, revocations, config, log, clock });
    const ownsData = options.dataDir === undefined;
    const world = new LeadWorld({
      lead,
      handle,
      mailbox,
      keyRing,
      revocations,
      logged,
      queues,
      dataDir,
      ownsData,
    });
    world.url = await lead.start({ host: '127.0.0.1', port: 0 });
    return world;
  }

  /** A token; of a lead of the world's team unless the spec says otherwise. */
  async token(spec: Partial<TokenSpec> = {}): Promise<string> {
    const { token } = await createToken(await this.keyRing.activeSigner(), {
      principal: 'local:lead',
      role: 'lead',
      teams: [this.team],
      nowMs: Date.now(),
      ...spec,
    });
    return token;
  }

  /** A token of a teammate of the world's team. */
  teammateToken(teammate = 'worker', owner = `local:owner-of-${teammate}`): Promise<string> {
    return this.token({
      principal: `teammate:${teammate}`,
      role: 'teammate',
      kind: 'agent',
      teammate,
      owner,
    });
  }

  async call(path: string, { method, token, body, headers, signal }: CallOptions = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }), // one of the two, as just seen
      ...(signal && { signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
  }

  /** The path of a team, or of a request in it. */
  path(requestId?: string, rest = ''): string {
    const requests = `/v1/teams/${this.team}/requests`;
    return requestId === undefined ? requests : `${requests}/${encodeURIComponent(requestId)}${rest}`;
  }

  /** Submits a plan as a teammate, and answers the record. */
  async submit(
    token: string,
    changes: Record<string, unknown> = {},
    teammate = 'worker',
  ): Promise<RequestRecord> {
    const answer = await this.call(this.path(), { token, body: submission(this.team, changes, teammate) });
    if (answer.status !== 201) throw new Error(`not submitted: ${answer.text}`);
    return RequestRecord.parse(answer.json);
  }

  decide(token: string, record: RequestRecord, body: Record<string, unknown> = {}): Promise<Answer> {
    return this.call(this.path(record.requestId, '/decision'), {
      token,
      body: { outcome: 'approved', planDigest: record.plan.digest, ...body },
    });
  }

  async close(): Promise<void> {
    await this.lead.close();
    await this.mailbox.close();
    await this.#queues.close();
    await this.handle.close();
    if (this.#ownsData) await rm(this.#dataDir, { recursive: true, force: true });
  }
}

interface LeadWorldParts {
  lead: Lead;
  handle: RedisHandle;
  mailbox: Mailbox;
  keyRing: KeyRing;
  revocations: Revocations;
  logged: string[];
  queues: TaskQueues;
  dataDir: string;
  ownsData: boolean;
}

/** A plan like any other. */
export const plan = '# Plan\n\n1. Rename `a` to `b`.\n';
export const planDigest = digestOfText(plan);

/** The body of a submission with a request and a session of its own. */
export function submission(team: string, changes: Record<string, unknown> = {}, teammate = 'worker') {
  return {
    requestId: newRequestId(teammate, team),
    planFilePath: 'plans/calm-red-fox.md',
    planContent: plan,
    sessionId: newSessionId(),
    ...changes,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
