import { randomUUID } from 'node:crypto';
import type { PlanFile } from '@placet/plan-mode';
import type { RequestRecord, TaskRecord } from '@placet/protocol';
import { type CheckedDecision, checkDecision, planOfBytes } from './decision-check.ts';
import { implement, publish } from './implementing-job.ts';
import { type NextStep, nextStep, replan, type Situation } from './next-step.ts';
import { keepFeedback, planFileOf } from './plan-place.ts';
import { goOnSubmitting, plan } from './planning-job.ts';
import { endLeftover } from './process-identity.ts';
import { makeSessionFolders, sessionFolders } from './session-folders.ts';
import { type KeptLease, keepLease } from './session-lease.ts';
import {
  alarm,
  changeTask,
  type Expected,
  endTask,
  type HeldSession,
  isPassing,
  type JobOutcome,
  reached,
  SessionLost,
  type SessionRun,
  type TeammateParts,
} from './session-run.ts';
import { findSource } from './workspace.ts';

/** How often one job looks again at once before it leaves the rest to a later one. */
const maxLooks = 10;
/** How long a session whose workspace is elsewhere, or whose decision cannot be checked yet, is left alone. */
const laterMs = 5000;
/** Of how many decisions that could not be checked a process remembers that it said so. */
const maxDoubted = 1000;
/** How many inbox entries are read with one wake-up. */
const inboxBatch = 20;

/**
 * What every job comes to: hold the session, see what it is owed, do that, let go of it (TM-5, TM-7, TM-8). A job that
 * comes twice, late or for nothing finds nothing to do.
 */
export async function lookAtSession(
  parts: TeammateParts,
  sessionId: string,
  resume: boolean,
): Promise<JobOutcome> {
  for (let looks = 1; ; looks += 1) {
    const outcome = await lookOnce(parts, sessionId, resume);
    if (outcome.kind === 'ended') parts.held.delete(sessionId);
    if (outcome.kind !== 'again') return outcome;
    if (looks === maxLooks) return { kind: 'delay', ms: laterMs, cause: 'session_busy' };
  }
}

async function lookOnce(parts: TeammateParts, sessionId: string, resume: boolean): Promise<JobOutcome> {
  const { port, settings, log } = parts;
  // Unique for each attempt: a repetition of this very call keeps its lease, nobody else does.
  const holder = randomUUID();
  const [held, expected] = await Promise.all([
    port.holdSession(sessionId, holder, settings.leaseMs),
    expectation(parts, sessionId),
  ]);
  if (held.kind === 'busy') return { kind: 'delay', ms: held.freeInMs, cause: 'session_busy' };
  const kept = keepLease({ port, lease: held.lease, leaseMs: settings.leaseMs, log });
  await parts.checkpoint('session-held', sessionId);
  try {
    if (held.lease.leftover && (await endLeftover(held.lease.leftover)))
      log.warn({ sessionId, leftover: held.lease.leftover }, 'ended an agent that a lost worker left behind');
    return await underLease({ parts, sessionId, holder, kept, task: held.task, expected }, resume);
  } catch (thrown) {
    if (!(thrown instanceof SessionLost)) throw thrown;
    log.warn({ sessionId, epoch: held.lease.epoch }, thrown.message);
    const isStopping = parts.stopping.planning.aborted;
    return { kind: 'delay', ms: isStopping ? 0 : 1000, cause: isStopping ? 'stopping' : 'session_busy' };
  } finally {
    await letGo(parts, kept);
  }
}

async function letGo({ port, log, checkpoint }: TeammateParts, kept: KeptLease): Promise<void> {
  await kept.stop();
  try {
    await port.releaseSession(kept.lease);
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    log.warn(
      { sessionId: kept.lease.sessionId, code: thrown.code },
      'the session is free only when its lease lapses',
    );
  }
  await checkpoint('session-released', kept.lease.sessionId);
}

/**
 * What is probably the session's latest request and its plan, read on the way to its lease. The request may be older than
 * that by a moment, which is harmless: whatever changes it wakes the session once more, and each step compares and sets.
 */
async function expectation({ port, journal }: TeammateParts, sessionId: string): Promise<Expected> {
  const intent = await journal.begunIntent(sessionId);
  if (!intent) return {};
  // What fails here is read again by whoever needs it.
  const [request, bytes] = await Promise.all([
    port.getRequest(intent.requestId).catch(() => undefined),
    port.getPlan(intent.planDigest).catch(() => undefined),
  ]);
  return { request, plan: bytes && planOfBytes(bytes) };
}

async function underLease(held: HeldSession, resume: boolean): Promise<JobOutcome> {
  const { parts, sessionId, task } = held;
  const situation = await situationOf(held, resume);
  const step = nextStep(situation);
  if (step.kind === 'rest') return { kind: 'ended' };
  if (step.kind === 'end') return endTask(held, step.phase, step.reason);
  if (!parts.profiles.find(task.job.agent)) return endTask(held, 'failed', 'unknown_agent');
  const { roots, environment, sources: known } = parts;
  const found = await findSource(task.job, { roots, environment, known });
  if (found.kind === 'missing') return { kind: 'delay', ms: laterMs, cause: 'workspace_missing' };
  if (found.kind === 'refused') {
    await alarm(held, 'workspace_refused', found.detail);
    return endTask(held, 'failed', 'workspace_refused');
  }
  const folders = sessionFolders(parts.dataDir, sessionId);
  await makeSessionFolders(folders);
  return takeStep({ ...held, folders, source: found.source }, situation, step);
}

async function situationOf(
  { parts, task, sessionId, expected }: HeldSession,
  resume: boolean,
): Promise<Situation> {
  const { port, journal, settings, runtime, held } = parts;
  const request =
    expected.request?.requestId === task.requestId ? expected.request : await latestRequest(port, task);
  const intent = (await journal.begunIntent(sessionId)) ?? task.intent;
  const isLatest = intent !== undefined && intent.requestId === request?.requestId;
  const intentIsStored =
    intent !== undefined && (isLatest || (await port.getRequest(intent.requestId)) !== undefined);
  // The answer to the submission was lost, not the submission.
  if (intent && isLatest) await journal.submitted(sessionId, intent.requestId);
  const { maxRevisions, onBaseMoved } = settings;
  const agentIsLost = runtime.heldForMs !== undefined && held.get(sessionId) !== request?.requestId;
  return { task, request, intent, intentIsStored, maxRevisions, resume, onBaseMoved, agentIsLost };
}

async function latestRequest(
  port: TeammateParts['port'],
  { requestId }: TaskRecord,
): Promise<RequestRecord | undefined> {
  return requestId === undefined ? undefined : port.getRequest(requestId);
}

async function takeStep(run: SessionRun, situation: Situation, step: NextStep): Promise<JobOutcome> {
  switch (step.kind) {
    case 'rest':
      return { kind: 'ended' };
    case 'end':
      return endTask(run, step.phase, step.reason);
    case 'plan':
      return plan(run, step);
    case 'submit':
      return goOnSubmitting(run, step.requestId, nextRevision(situation));
    case 'publish':
      return publish(run, step.request, step.branch, step.commit);
    case 'decide':
      return decide(run, situation, step.request);
  }
}

/** The plan that a submission which was begun and never arrived was for. */
function nextRevision({ task, request }: { task: TaskRecord; request: RequestRecord | undefined }) {
  return { revision: Math.max(task.revision, request?.revision ?? 0) + 1, previous: request };
}

async function decide(run: SessionRun, situation: Situation, request: RequestRecord): Promise<JobOutcome> {
  const { log } = run.parts;
  const planFile = await planFileOf(run);
  const checked = await checkDecision(run, planFile, request);
  if (checked.kind === 'later') {
    const fields = { sessionId: run.sessionId, requestId: request.requestId };
    log.warn(fields, `the decision cannot be checked now: ${checked.detail}`);
    await alarmOnce(run, request, checked.detail);
    return { kind: 'delay', ms: laterMs, cause: 'keys_unreachable' };
  }
  if (checked.kind === 'void') return stayPlanning(run, request, checked);
  await reached(run, 'decision-verified');
  // The receipt goes out and the inbox is read beside the work and behind its first call: it waits for neither.
  const followed = follow(run, situation, request, checked, planFile);
  const read = Promise.all([acknowledgeDecision(run, request), acknowledgeInbox(run)]);
  try {
    return await followed;
  } finally {
    await read;
  }
}

/** The receipt of TM-11. One that is lost is made by the claim's own times; what counts is the record. */
async function acknowledgeDecision(run: SessionRun, { requestId }: RequestRecord): Promise<void> {
  const { port, log } = run.parts;
  try {
    await port.markDelivered(requestId);
    await reached(run, 'decision-delivered');
  } catch (thrown) {
    log.warn(
      { sessionId: run.sessionId, requestId, err: thrown },
      'the receipt of the decision was not sent',
    );
  }
}

async function follow(
  run: SessionRun,
  situation: Situation,
  request: RequestRecord,
  checked: CheckedDecision & { kind: 'approved' | 'rejected' | 'teleport' },
  planFile: PlanFile,
): Promise<JobOutcome> {
  switch (checked.kind) {
    case 'approved':
      return implement(run, request, checked, planFile);
    case 'teleport':
      return endTask(run, 'teleported');
    case 'rejected': {
      await keepFeedback(run, request.revision, checked.feedback);
      await reached(run, 'rejection-recorded');
      const fields = { sessionId: run.sessionId, requestId: request.requestId, revision: request.revision };
      run.parts.log.info(fields, 'the plan was rejected and is made again');
      return takeStep(run, situation, replan(situation, request));
    }
  }
}

/** Tells the lead of a decision that cannot be checked, once a process: nobody else sees that it opens nothing (I8). */
async function alarmOnce(run: SessionRun, request: RequestRecord, detail: string): Promise<void> {
  const { doubted } = run.parts;
  if (doubted.has(request.requestId)) return;
  if (doubted.size >= maxDoubted) doubted.clear();
  doubted.add(request.requestId);
  await alarm(run, 'decision_invalid', `it cannot be checked: ${detail}`, request);
}

/** Nothing is opened: the session is still planning, and the lead is told (IN-2, I6). */
async function stayPlanning(
  run: SessionRun,
  request: RequestRecord,
  { code, detail }: { code: string; detail: string },
): Promise<JobOutcome> {
  await alarm(run, code, detail, request);
  if (run.task.phase !== 'planning') await changeTask(run, { phase: 'planning', reason: code });
  return { kind: 'ended' };
}

/**
 * Takes what the inbox has for sessions of this worker's away: their own wake-ups do what is to be done. What belongs to
 * no task here is left to whoever reads this inbox otherwise. A fault here delays nothing.
 */
async function acknowledgeInbox({ parts: { port, log }, sessionId }: SessionRun): Promise<void> {
  try {
    const read: string[] = [];
    for (const { id, message } of await port.takeEntries(inboxBatch)) {
      const requestId = message.type === 'plan_approval_response' ? message.requestId : undefined;
      const request = typeof requestId === 'string' ? await port.getRequest(requestId) : undefined;
      if (request && (request.sessionId === sessionId || (await port.getTask(request.sessionId))))
        read.push(id);
    }
    if (read.length > 0) await port.acknowledge(read);
  } catch (thrown) {
    log.warn({ sessionId, err: thrown }, 'the inbox was not read; its entries are offered again');
  }
}
