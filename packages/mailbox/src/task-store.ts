import {
  Job,
  PermissionMode,
  PlacetError,
  recordVersion,
  TaskPhase,
  type TaskRecord,
  toTimestamp,
} from '@placet/protocol';
import { z } from 'zod';
import { keyOf } from './keys.ts';
import type { HoldResult, SessionLease, TaskChange } from './mailbox-port.ts';
import { packDigest, packRequestId, unpackDigest, unpackRequestId } from './packed-names.ts';
import { cutReason } from './request-working.ts';
import { execAll, unknownReply } from './scripts.ts';
import { memberOf, type SessionName, sessionKey } from './session-name.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

const count = z.coerce.number().int().default(0);

/** A session's hash: what of it makes a task's record. */
const StoredSession = z.object({
  v: z.coerce.number().int().default(recordVersion),
  /** Phase of the task; a session without a task has none. */
  ph: TaskPhase.optional(),
  /** Mode to go back to; `default` where it is left out. */
  pm: PermissionMode.default('default'),
  /** Latest request and its revision. */
  rq: z.string().optional(),
  rv: count,
  ep: count,
  wk: count,
  /** How often it entered plan mode again. */
  en: count,
  /** The intent (TM-4): request and digest of its plan. */
  ir: z.string().optional(),
  id: z.string().optional(),
  rs: z.string().optional(),
  br: z.string().optional(),
  cm: z.string().optional(),
});

/** A task's immutable JSON: short names, because each parked plan has one. The team is the key's. */
const StoredTask = z.object({
  v: z.number().int(),
  /** The job without its team; whatever else it holds is kept. */
  j: z.looseObject({}),
  at: z.number().int(),
});

/** The tasks of all teammates, and the leases under which sessions are worked on (TM-2, TM-16). */
export class TaskStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Makes the task's record in phase `planning`, once; answers the one that stands. */
  async open(name: SessionName, job: Job): Promise<TaskRecord> {
    const { team, teammate, sessionId } = name;
    if (job.team !== team) {
      const issues = [{ path: 'team', message: 'is not the team of the queue' }];
      throw new PlacetError('validation_failed', `the job of ${sessionId} names another team`, { issues });
    }
    await this.#context.registerTeam(team);
    const { team: _, ...kept } = job;
    const text = JSON.stringify({ v: recordVersion, j: kept });
    const mode = job.permissionMode ?? 'default';
    const { reconcileAfterMs } = this.#context;
    const args = [text, memberOf(name), mode, reconcileAfterMs];
    const keys = [keyOf(team, 'task', teammate, sessionId), sessionKey(name)];
    const reply = await runTeamScript(this.#context, team, 'open-task', keys, args);
    if (reply.word !== 'opened' && reply.word !== 'known') return unknownReply('open-task', reply);
    const task = await this.get(name);
    if (!task) throw new PlacetError('internal', `the task of ${sessionId} is gone`);
    return task;
  }

  /** The task; undefined for a session without one. @throws PlacetError `too_new` */
  async get(name: SessionName): Promise<TaskRecord | undefined> {
    const { team, teammate, sessionId } = name;
    const transaction = this.#context.redis
      .multi()
      .get(keyOf(team, 'task', teammate, sessionId))
      .hgetall(sessionKey(name));
    const [task, session] = await execAll('reading a task', transaction);
    return typeof task === 'string' ? toTask(name, task, session) : undefined;
  }

  /**
   * Holds a session for at most `leaseMs`, under the next epoch, and reads its task in the same step; the same holder
   * again keeps its own epoch.
   * @throws PlacetError `not_found` when there is no task of it
   */
  async hold(name: SessionName, holder: string, leaseMs: number): Promise<HoldResult> {
    const { team, teammate, sessionId } = name;
    const keys = [keyOf(team, 'task', teammate, sessionId), sessionKey(name)];
    const args = [memberOf(name), holder, leaseMs];
    const reply = await runTeamScript(this.#context, team, 'hold-session', keys, args);
    switch (reply.word) {
      case 'held':
        return {
          kind: 'held',
          lease: { sessionId, epoch: reply.number(0), leftover: reply.text(1) || undefined },
          task: toTask(name, reply.text(2), toHash(reply.texts(3))),
        };
      case 'busy':
        return { kind: 'busy', freeInMs: reply.number(0) };
      case 'absent':
        throw new PlacetError('not_found', `there is no task of session ${sessionId}`);
      default:
        return unknownReply('hold-session', reply);
    }
  }

  /** Prolongs a lease; false when a later holder has the session or it was released. */
  renew(name: SessionName, lease: SessionLease, leaseMs: number): Promise<boolean> {
    return this.#renew(name, lease, leaseMs);
  }

  /** Ends a lease, and what it says was left running; nothing happens when it is lost already. */
  async release(name: SessionName, lease: SessionLease): Promise<void> {
    await this.#renew(name, lease, 0);
  }

  /** Changes a task under its lease; false, and nothing written, when that is lost. */
  change(name: SessionName, lease: SessionLease, change: TaskChange): Promise<boolean> {
    return this.#change(name, String(lease.epoch), toFields(name, change));
  }

  /** Says that the session entered plan mode again: no former approval opens anything in it any more (WR-25). */
  async enterPlanMode(name: SessionName): Promise<void> {
    await this.#context.registerTeam(name.team);
    await this.#change(name, '', []);
  }

  async #renew(name: SessionName, { epoch }: SessionLease, leaseMs: number): Promise<boolean> {
    const args = [memberOf(name), epoch, leaseMs, this.#context.reconcileAfterMs];
    const reply = await runTeamScript(this.#context, name.team, 'renew-session', [sessionKey(name)], args);
    if (reply.word !== 'kept' && reply.word !== 'lost') return unknownReply('renew-session', reply);
    return reply.word === 'kept';
  }

  async #change(name: SessionName, epoch: string, fields: string[]): Promise<boolean> {
    const keys = [sessionKey(name), keyOf(name.team, 'endedTasks')];
    const args = [memberOf(name), epoch, ...fields];
    const reply = await runTeamScript(this.#context, name.team, 'change-task', keys, args);
    if (reply.word !== 'changed' && reply.word !== 'lost') return unknownReply('change-task', reply);
    return reply.word === 'changed';
  }
}

function toTask(name: SessionName, text: string, fields: unknown): TaskRecord {
  const { team, teammate, sessionId } = name;
  const session = StoredSession.parse(fields);
  const task = StoredTask.parse(JSON.parse(text));
  if (Math.max(task.v, session.v) > recordVersion) {
    throw new PlacetError(
      'too_new',
      `the task of ${sessionId} was written by a newer Placet; upgrade this process`,
    );
  }
  const requestId = session.rq && unpackRequestId(team, teammate, session.rq);
  // The script that submits writes `=` for an intent that is the latest request by now.
  const intent = session.ir === '=' ? requestId : session.ir && unpackRequestId(team, teammate, session.ir);
  return {
    v: recordVersion,
    sessionId,
    job: Job.parse({ ...task.j, team }),
    phase: session.ph ?? 'planning',
    createdAt: toTimestamp(task.at),
    prePlanMode: session.pm,
    revision: session.rv,
    ...(requestId && { requestId }),
    ...(intent && { intent: { requestId: intent, digest: unpackDigest(session.id ?? '') } }),
    epoch: session.ep,
    wake: session.wk,
    planEntries: session.en,
    ...(session.rs !== undefined && { reason: session.rs }),
    ...(session.br !== undefined && { branch: session.br }),
    ...(session.cm !== undefined && { commit: session.cm }),
  };
}

/** Field and value in turn, as a script answers a hash. */
function toHash(pairs: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let place = 0; place + 1 < pairs.length; place += 2)
    fields[pairs[place] ?? ''] = pairs[place + 1] ?? '';
  return fields;
}

/** Field and value in turn, as the script takes them; the empty value takes a field away. */
function toFields({ team, teammate }: SessionName, change: TaskChange): string[] {
  const { phase, intent, reason, running, branch, commit } = change;
  const fields: Record<string, string | undefined> = {
    ph: phase,
    rs: reason === undefined ? undefined : cutReason(reason),
    run: running === null ? '' : running,
    br: branch,
    cm: commit,
    ...(intent && { ir: packRequestId(team, teammate, intent.requestId), id: packDigest(intent.digest) }),
    ...(intent === null && { ir: '', id: '' }),
  };
  return Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field, value]));
}
