import { randomUUID } from 'node:crypto';
import {
  findUnsafeJson,
  leadInboxName,
  maxPlanBytes,
  maxPostureReportBytes,
  type PermissionMode,
  PlacetError,
  PostureReport,
  parseOrThrow,
  type RequestId,
  type Timestamp,
  toTimestamp,
  unsafeText,
} from '@placet/protocol';
import { orderHistory } from './history.ts';
import { invalidField } from './invalid-field.ts';
import { keyOf } from './keys.ts';
import { unpackRequestId } from './packed-names.ts';
import { type PackedReport, packReport, unpackReport } from './posture-codec.ts';
import { execAll, runScript, type ScriptArgument, storeCall, unknownReply } from './scripts.ts';
import { type SessionName, sessionKey } from './session-name.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

/** What the store knows of a session beside its task. */
export interface SessionView {
  /** The latest request. */
  requestId: RequestId | undefined;
  /** How often it has entered plan mode again. */
  planEntries: number;
  /** Whether it has since its latest request: then no approval of that stands (WR-25). */
  hasEnteredSince: boolean;
  /** What its host last reported, and when; undefined where it reported nothing that can be read. */
  report: { said: PostureReport; at: Timestamp } | undefined;
}

/** A lead's order to a session. */
export interface OrderCommand extends SessionName {
  mode: PermissionMode;
  /** The principal that gives it. */
  by: string;
  /** Makes a repetition harmless for a day (TM-45). */
  operationId?: string | undefined;
  /** Signs it; `planEntries` is how often the session will have entered plan mode by then. */
  sign: (planEntries: number) => Promise<string>;
}

const operationMs = 24 * 60 * 60 * 1000;
/** How often an order is signed anew because the session entered plan mode meanwhile. */
const maxSignings = 10;
/** How many teammates are asked at once whether a session is theirs. */
const chunkSize = 500;

/** What belongs to sessions beside their tasks: their hosts' reports, their drafts, leads' orders (PM-18, PM-45). */
export class SessionStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Undefined where there is no such session. */
  async look(name: SessionName): Promise<SessionView | undefined> {
    const { team, teammate, sessionId } = name;
    const transaction = this.#context.redis
      .multi()
      .hmget(sessionKey(name), 'v', 'rq', 'en', 'rqen', 'po', 'pa')
      .get(keyOf(team, 'sessionReport', teammate, sessionId));
    const [fields, rest] = await execAll('reading a session', transaction);
    const [v, rq, en, rqen, line, at]: unknown[] = Array.isArray(fields) ? fields : [];
    if (typeof v !== 'string') return undefined;
    return {
      requestId: typeof rq === 'string' ? unpackRequestId(team, teammate, rq) : undefined,
      planEntries: Number(en ?? 0),
      hasEnteredSince: Number(en ?? 0) !== Number(rqen ?? 0),
      report:
        typeof line === 'string'
          ? this.#readReport(name, { line, rest: typeof rest === 'string' ? rest : '', at: Number(at) })
          : undefined,
    };
  }

  /**
   * Which teammates have a session of this ID: session IDs are their makers', and unique only with the teammate. Looks
   * at those that were ever seen alive (TM-12).
   */
  async whoHas(team: string, sessionId: string): Promise<string[]> {
    const { redis } = this.#context;
    const teammates = await storeCall('listing teammates', () => redis.hkeys(keyOf(team, 'teammates')));
    const found: string[] = [];
    for (let from = 0; from < teammates.length; from += chunkSize) {
      const chunk = teammates.slice(from, from + chunkSize);
      const batch = redis.pipeline();
      for (const teammate of chunk) batch.exists(sessionKey({ team, teammate, sessionId }));
      const replies = await execAll('looking for a session', batch);
      found.push(...chunk.filter((_, place) => replies[place] === 1));
    }
    return found.sort();
  }

  /**
   * Keeps what the session's host says of it, in place of what it said before. With `epoch`, only while no later holder
   * has the session; false, and nothing written, where it is lost.
   * @throws PlacetError `not_found`, `validation_failed`; `payload_too_large` beyond {@link maxPostureReportBytes}
   */
  async report(name: SessionName, report: PostureReport, epoch?: number): Promise<boolean> {
    const said = parseOrThrow(PostureReport, report, 'the report');
    const [fault] = findUnsafeJson(said);
    if (fault) throw invalidField(fault.path, fault.message);
    const { line, rest } = packReport(said);
    if (Buffer.byteLength(rest) > maxPostureReportBytes)
      throw new PlacetError(
        'payload_too_large',
        `the report of ${name.sessionId} has more than ${maxPostureReportBytes} bytes`,
      );
    const keys = [sessionKey(name), keyOf(name.team, 'sessionReport', name.teammate, name.sessionId)];
    return this.#keep('keep-report', name, keys, [epoch ?? '', line, rest]);
  }

  /**
   * Keeps the plan that a session is writing, so that another host can go on with it (PM-45). Submitting takes it away.
   * @returns as {@link report} @throws PlacetError `not_found`, `validation_failed`, `payload_too_large`
   */
  async saveDraft(name: SessionName, plan: string, epoch?: number): Promise<boolean> {
    const fault = unsafeText(plan);
    if (fault) throw invalidField('plan', fault);
    const bytes = Buffer.from(plan, 'utf8');
    if (bytes.byteLength > maxPlanBytes)
      throw new PlacetError(
        'payload_too_large',
        `the plan has ${bytes.byteLength} bytes; ${maxPlanBytes} can be stored`,
      );
    const keys = [sessionKey(name), keyOf(name.team, 'draft', name.teammate, name.sessionId)];
    return this.#keep('keep-draft', name, keys, [epoch ?? '', bytes]);
  }

  /** The draft, exactly as it was saved; undefined where there is none. */
  async loadDraft({ team, teammate, sessionId }: SessionName): Promise<string | undefined> {
    const key = keyOf(team, 'draft', teammate, sessionId);
    const text = await storeCall('reading a draft', () => this.#context.redis.get(key));
    return text ?? undefined;
  }

  /**
   * Orders a session into plan mode (`mode` is `plan`) or out of it: signed message in the teammate's inbox, event, and
   * a wake-up, in one step. Entering voids every approval that the session has (WR-25). Whether the order may be given
   * is the caller's to judge.
   * @throws PlacetError `not_found`
   */
  async order(command: OrderCommand): Promise<void> {
    const { team, teammate, sessionId, mode, by, operationId = randomUUID(), sign } = command;
    const kind = mode === 'plan' ? 'enter' : 'exit';
    const operation = keyOf(team, 'operation', leadInboxName, `${kind}:${sessionId}:${operationId}`);
    const keys = [sessionKey(command), keyOf(team, 'inbox', teammate), operation];
    const { event, audit } = orderHistory({ teammate, sessionId }, { mode, by });
    let entries = (await this.look(command))?.planEntries ?? 0;
    for (let signings = 0; signings < maxSignings; signings += 1) {
      const order = await sign(kind === 'enter' ? entries + 1 : entries);
      const message = { type: 'mode_changed', mode, sessionId, order };
      const envelope = JSON.stringify({ from: leadInboxName, to: teammate, message }).slice(0, -1);
      const what = [teammate, sessionId, kind, envelope, entries, operationMs, event, audit];
      const args = [...what, this.#context.reconcileAfterMs];
      const reply = await runTeamScript(this.#context, team, 'order-mode', keys, args);
      if (reply.word === 'ordered' || reply.word === 'known') return;
      if (reply.word === 'absent') throw noSession(sessionId);
      if (reply.word !== 'moved') return unknownReply('order-mode', reply);
      entries = reply.number(0);
    }
    throw new PlacetError(
      'store_unavailable',
      `session ${sessionId} changes too fast; repeat the same call`,
      {
        retryAfterMs: 1000,
      },
    );
  }

  async #keep(
    script: 'keep-report' | 'keep-draft',
    { sessionId }: SessionName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
  ): Promise<boolean> {
    const reply = await runScript(this.#context, script, keys, args);
    if (reply.word === 'absent') throw noSession(sessionId);
    if (reply.word !== 'kept' && reply.word !== 'lost') return unknownReply(script, reply);
    return reply.word === 'kept';
  }

  /** It is only shown: one that cannot be read is none, and the chain says that it is missing. */
  #readReport(
    { team, teammate, sessionId }: SessionName,
    { at, ...packed }: PackedReport & { at: number },
  ): SessionView['report'] {
    try {
      return { said: unpackReport(packed), at: toTimestamp(at) };
    } catch (err) {
      this.#context.log.warn({ err, team, teammate, sessionId }, 'the report of a session cannot be read');
      return undefined;
    }
  }
}

function noSession(sessionId: string): PlacetError {
  return new PlacetError('not_found', `there is no session ${sessionId} here`);
}
