import { join } from 'node:path';
import { judgeSubmission, type PlanFile, PlanSession, type StoredPlan } from '@placet/plan-mode';
import {
  isPlacetError,
  newRequestId,
  type PlacetError,
  type RequestRecord,
  workspaceDigest,
} from '@placet/protocol';
import type { AgentSession, PhaseOutcome } from './agent-port.ts';
import { waitHeld } from './held-wait.ts';
import type { Intent } from './journal.ts';
import { feedbackSoFar, planFileOf } from './plan-place.ts';
import { identityOf } from './process-identity.ts';
import {
  alarm,
  changeTask,
  endTask,
  type JobOutcome,
  leaseOf,
  prePlanModeOf,
  reached,
  SessionLost,
  type SessionRun,
} from './session-run.ts';
import { submitPlan } from './submit-plan.ts';
import { fingerprint } from './tree-fingerprint.ts';
import { captureWorkspace, foldersOf } from './workspace.ts';
import type { Tree, TreeName } from './worktree.ts';

/** Which plan is to be made. */
export interface PlanStep {
  revision: number;
  /** The request that this plan takes the place of. */
  previous: RequestRecord | undefined;
}

/**
 * Makes a plan and submits it (TM-3, TM-4). When it ends, the session waits without a job: the decision wakes it
 * (TM-5). Nothing is changed on the way: the agent plans in a tree of its own, which is thrown away.
 */
export async function plan(run: SessionRun, step: PlanStep): Promise<JobOutcome> {
  if (run.task.phase !== 'planning') await changeTask(run, { phase: 'planning', reason: '' });
  const { parts, sessionId, source } = run;
  const planFile = await planFileOf(run);
  const name = treeNameOf(run, 'plan');
  await parts.worktrees.discardOthers(source, run.folders.trees);
  const workspace = await captureWorkspace(source, run.task.job, parts.environment);
  const tree = await parts.worktrees.make(source, name);
  await reached(run, 'plan-tree-made');
  let outcome: PhaseOutcome;
  try {
    outcome = await planIn(run, tree, planFile, step);
  } finally {
    await parts.worktrees.discard(tree);
  }
  if (outcome.kind === 'interrupted') throw new SessionLost('the planning was interrupted');
  if (outcome.kind === 'failed') return endFailedPlan(run, outcome.reason, outcome.detail);
  const made = await loadPlan(planFile);
  if (made.kind === 'unusable') return endTask(run, 'failed', `${made.error.code}: the plan file`);
  const verdict = judgeSubmission({ mode: 'plan', kind: 'teammate', plan: made.plan });
  if (verdict.kind !== 'submit') return endTask(run, 'failed', 'plan_required');
  await reached(run, 'plan-checked');
  const { revision, previous } = step;
  return submit(run, planFile, verdict.plan, {
    kind: 'intent',
    sessionId,
    requestId: newRequestId(parts.port.teammate, parts.port.team),
    planDigest: verdict.plan.digest,
    revision,
    ...(previous && { supersedes: previous.requestId }),
    workspace,
    workspaceDigest: workspaceDigest(workspace),
  });
}

/**
 * Goes on with a submission that was begun: under the same ID if the plan is still the one it was begun for, else by
 * planning again (TM-4, TM-8).
 */
export async function goOnSubmitting(
  run: SessionRun,
  requestId: string,
  otherwise: PlanStep,
): Promise<JobOutcome> {
  const intent = await run.parts.journal.begunIntent(run.sessionId);
  const planFile = await planFileOf(run);
  const made = await loadPlan(planFile);
  if (intent?.requestId !== requestId || made.kind !== 'loaded' || made.plan?.digest !== intent.planDigest)
    return plan(run, otherwise);
  return submit(run, planFile, made.plan, intent);
}

/** Persist, send, and only then wait: in this order (TM-4). */
async function submit(
  run: SessionRun,
  planFile: PlanFile,
  made: StoredPlan,
  intent: Intent,
): Promise<JobOutcome> {
  const { journal, log } = run.parts;
  const { kind: _kind, ...begun } = intent;
  const before = await journal.acknowledgedIntent(run.sessionId);
  await journal.submitting(begun);
  await reached(run, 'intent-journaled');
  await changeTask(run, {
    intent: { requestId: intent.requestId, digest: intent.planDigest },
    running: null,
  });
  await reached(run, 'intent-recorded');
  const sent = await submitPlan(run, intent, made, planFile.path);
  if (sent.kind === 'refused') return endRefusedPlan(run, sent.error);
  await reached(run, 'plan-submitted');
  const { record, kind } = sent.result;
  if (kind === 'standing') return goOnUnderStanding(run, record, begun, before);
  await journal.submitted(run.sessionId, record.requestId);
  await reached(run, 'submission-journaled');
  await changeTask(run, { phase: 'awaiting_approval' });
  log.info(
    { sessionId: run.sessionId, requestId: record.requestId, revision: record.revision },
    'the plan waits for the lead',
  );
  await reached(run, 'awaiting-recorded');
  const { heldForMs } = run.parts.runtime;
  return heldForMs === undefined ? { kind: 'ended' } : waitHeld(run, record.requestId, heldForMs);
}

/**
 * An approval of this very plan stands under its old ID (WR-25), which is the last intent again: if it was before, or if
 * this host knows of none. Anything else is a store that was rolled back (TM-17).
 */
async function goOnUnderStanding(
  run: SessionRun,
  record: RequestRecord,
  begun: Omit<Intent, 'kind'>,
  before: Intent | undefined,
): Promise<JobOutcome> {
  const { requestId, revision } = record;
  if (before && before.requestId !== requestId) {
    await alarm(
      run,
      'decision_invalid',
      'an approval stands that is not of the last plan submitted here',
      record,
    );
    await changeTask(run, { phase: 'planning', reason: 'decision_invalid' });
    return { kind: 'ended' };
  }
  await run.parts.journal.submitting({ ...begun, ...before, requestId, revision });
  await run.parts.journal.submitted(run.sessionId, requestId);
  if (run.parts.runtime.heldForMs !== undefined) run.parts.held.set(run.sessionId, requestId);
  return { kind: 'again' };
}

async function planIn(
  run: SessionRun,
  tree: Tree,
  planFile: PlanFile,
  step: PlanStep,
): Promise<PhaseOutcome> {
  const { parts, source } = run;
  const fingerprinted = { root: tree.root, gitFolder: source.kind === 'git' ? source.gitFolder : undefined };
  const before = await fingerprint(fingerprinted, parts.environment);
  // A rejected plan stays, to be revised (PM-76); what an attempt that was cut off left is no plan.
  const former = await loadPlan(planFile);
  if (former.kind === 'unusable' || !step.previous) await planFile.clear();
  const posture = new PlanSession({
    sessionId: run.sessionId,
    planModeRequired: true,
    prePlanMode: prePlanModeOf(run.task),
    isPlanFile: planFile.isPlanFile,
  });
  const feedback = await feedbackSoFar(run);
  const session: AgentSession = {
    ...agentSessionOf(run, tree, planFile, step.revision),
    feedback:
      feedback === undefined
        ? undefined
        : { text: feedback, rejectedPlan: former.kind === 'loaded' ? former.plan?.text : undefined },
    gate: posture.gate,
    signal: AbortSignal.any([run.kept.lost, parts.stopping.planning]),
    onRunning: async ({ pid }) => {
      await changeTask(run, { running: (await identityOf(pid)) ?? null });
      await reached(run, 'plan-agent-ready');
    },
  };
  const outcome = await parts.runtime.plan(session);
  await reached(run, 'plan-agent-ended');
  // Whatever the agent says of itself: a tree that is not as it was means that it did not only plan (TM-22, I1).
  if ((await fingerprint(fingerprinted, parts.environment).catch(() => 'unreadable')) !== before)
    return {
      kind: 'failed',
      reason: 'plan_mode_violation',
      detail: 'the agent changed the tree while planning',
    };
  return outcome;
}

/** What both phases have in common; the gate and the feedback are the phase's own. */
export function agentSessionOf(
  run: SessionRun,
  tree: Tree,
  planFile: PlanFile,
  revision: number,
): Omit<AgentSession, 'gate' | 'signal' | 'onRunning' | 'feedback'> {
  const { parts, folders, source } = run;
  return {
    sessionId: run.sessionId,
    job: run.task.job,
    cwd: tree.cwd,
    protectedFolders: [tree.root, ...foldersOf(source), parts.dataDir],
    planFilePath: planFile.path,
    scratchFolder: folders.scratch,
    outputFile: join(folders.output, `${leaseOf(run).epoch}.log`),
    revision,
    log: parts.log,
  };
}

/** Names the tree of this attempt. */
export function treeNameOf(run: SessionRun, purpose: TreeName['purpose']): TreeName {
  return { sessionId: run.sessionId, folder: run.folders.trees, purpose, epoch: leaseOf(run).epoch };
}

async function loadPlan(
  planFile: PlanFile,
): Promise<{ kind: 'loaded'; plan: StoredPlan | undefined } | { kind: 'unusable'; error: PlacetError }> {
  try {
    return { kind: 'loaded', plan: await planFile.load() };
  } catch (thrown) {
    if (isPlacetError(thrown, 'validation_failed', 'payload_too_large'))
      return { kind: 'unusable', error: thrown };
    throw thrown;
  }
}

async function endFailedPlan(run: SessionRun, reason: string, detail: string): Promise<JobOutcome> {
  if (reason === 'plan_mode_violation') {
    await alarm(run, 'plan_mode_violation', detail);
    return endTask(run, 'failed', reason);
  }
  return endTask(run, 'failed', `${reason}: ${detail}`);
}

async function endRefusedPlan(run: SessionRun, error: PlacetError): Promise<JobOutcome> {
  await alarm(run, error.code, `the plan was not taken: ${error.message}`);
  return endTask(run, 'failed', error.code);
}
