import { type PlanFile, PlanSession } from '@placet/plan-mode';
import { isPlacetError, type PermissionMode, type RequestRecord } from '@placet/protocol';
import type { PhaseOutcome } from './agent-port.ts';
import type { CheckedDecision } from './decision-check.ts';
import { branchOf } from './plan-place.ts';
import { agentSessionOf, treeNameOf } from './planning-job.ts';
import { identityOf } from './process-identity.ts';
import {
  alarm,
  changeTask,
  type JobOutcome,
  leaseOf,
  prePlanModeOf,
  reached,
  reportQuietly,
  SessionLost,
  type SessionRun,
} from './session-run.ts';
import { captureWorkspace, movedBetween } from './workspace.ts';
import type { Tree } from './worktree.ts';

type Approval = CheckedDecision & { kind: 'approved' };

interface Work {
  run: SessionRun;
  request: RequestRecord;
  approval: Approval;
  planFile: PlanFile;
  posture: PlanSession;
}

/**
 * Does the work of a verified approval (TM-7, TM-8, TM-16): claims it under the lease, opens the gate, has the agent work
 * in a tree of this epoch, settles, and only then publishes the branch.
 */
export async function implement(
  run: SessionRun,
  request: RequestRecord,
  approval: Approval,
  planFile: PlanFile,
): Promise<JobOutcome> {
  const { settings } = run.parts;
  const { requestId } = request;
  const claimed = await claim(run, requestId);
  if (claimed) return claimed;
  await reached(run, 'work-claimed');
  const notices: string[] = [];
  const moved = await movement(run, request);
  if (moved !== undefined) {
    await reportQuietly(run, { type: 'alarm', code: 'base_moved', detail: moved, requestId });
    if (settings.onBaseMoved !== 'notice') {
      await settleFailed(run, requestId, 'base_moved');
      return settings.onBaseMoved === 'replan' ? { kind: 'again' } : { kind: 'ended' };
    }
    notices.push(moved);
  }
  // The plan as approved is what the agent finds, also where the lead edited it (PM-79).
  if ((await planFile.load().catch(() => undefined))?.digest !== approval.plan.digest)
    await planFile.save(approval.plan.text);
  await reached(run, 'plan-replaced');
  const posture = PlanSession.restore(
    {
      sessionId: run.sessionId,
      planModeRequired: true,
      isPlanFile: planFile.isPlanFile,
      // Whether it has `auto` is the runtime's to say, by the mode that it then confirms (TM-11).
      autoGate: { isOpen: () => true },
    },
    {
      context: { mode: 'plan', prePlanMode: prePlanModeOf(run.task) },
      open: { requestId, planDigest: request.plan.digest, revision: request.revision },
    },
  );
  const work: Work = { run, request, approval, planFile, posture };
  return workIn(work, notices);
}

/** Points the branch to what was settled (TM-16), if it is what this teammate made. */
export async function publish(
  run: SessionRun,
  request: RequestRecord,
  branch: string,
  commit: string,
): Promise<JobOutcome> {
  const { journal, worktrees } = run.parts;
  const made = await journal.made(request.requestId);
  if (made?.epoch !== request.work.epoch || made.branch !== branch || made.commit !== commit) {
    if (made || (await journal.acknowledgedIntent(run.sessionId))) {
      await alarm(
        run,
        'decision_invalid',
        'the record names a result that this teammate did not make',
        request,
      );
      return { kind: 'ended' };
    }
    // On a host that never worked on the session the record decides, if the commit is here at all (TM-17).
  }
  const name = { ...treeNameOf(run, 'work'), epoch: request.work.epoch };
  const tree = await worktrees.find(run.source, name, undefined);
  await worktrees.publish({ source: run.source, branch, commit, tree });
  await reached(run, 'work-published');
  await worktrees.discardOthers(run.source, run.folders.trees);
  return { kind: 'ended' };
}

async function claim(run: SessionRun, requestId: string): Promise<JobOutcome | undefined> {
  try {
    const claimed = await run.parts.port.claim(
      requestId,
      run.holder,
      run.parts.settings.leaseMs,
      run.sessionId,
    );
    if (claimed.kind === 'busy') return { kind: 'delay', ms: claimed.freeInMs, cause: 'session_busy' };
    if (claimed.lease.epoch !== leaseOf(run).epoch)
      throw new SessionLost('the lease had lapsed before the claim');
    return undefined;
  } catch (thrown) {
    // What stands is another than what was read: look again.
    if (isPlacetError(thrown, 'superseded', 'not_approved', 'expired_unapplied', 'already_decided'))
      return { kind: 'again' };
    throw thrown;
  }
}

async function movement(run: SessionRun, { workspace }: RequestRecord): Promise<string | undefined> {
  if (!workspace) return undefined;
  return movedBetween(workspace, await captureWorkspace(run.source, run.task.job, run.parts.environment));
}

async function workIn(work: Work, notices: string[]): Promise<JobOutcome> {
  const { run, request } = work;
  const { worktrees } = run.parts;
  const name = treeNameOf(run, 'work');
  await worktrees.discardOthers(run.source, run.folders.trees, name);
  const tree = await worktrees.make(run.source, name, request.workspace?.head);
  await reached(run, 'work-tree-made');
  const outcome = await runAgent(work, tree, notices);
  await reached(run, 'work-agent-ended');
  if (run.kept.lost.aborted || outcome.kind === 'interrupted') {
    await worktrees.discard(tree);
    throw new SessionLost('the work was interrupted; the next holder begins anew');
  }
  if (outcome.kind === 'finished') return settleDone(work, tree);
  if (outcome.reason === 'mode_mismatch') await alarm(run, 'mode_mismatch', outcome.detail, request);
  await worktrees.discard(tree);
  await settleFailed(
    run,
    request.requestId,
    outcome.reason === 'mode_mismatch' ? outcome.reason : `${outcome.reason}: ${outcome.detail}`,
  );
  return { kind: 'ended' };
}

async function runAgent(work: Work, tree: Tree, notices: string[]): Promise<PhaseOutcome> {
  const { run, request, approval, planFile, posture } = work;
  const { parts } = run;
  const { requestId } = request;
  const epoch = leaseOf(run).epoch;
  await parts.journal.applying({ requestId, jti: approval.claims.jti, epoch });
  await reached(run, 'applied-journaled');
  // The gate opens here, for this session, at the moment the verified decision is applied (PM-30).
  const opened = await posture.decide(approval.claims, { plan: approval.plan });
  if (opened.kind !== 'opened') {
    const detail = opened.kind === 'refused' ? opened.detail : 'it is no approval';
    return { kind: 'failed', reason: 'agent_failed', detail: `the gate stays closed: ${detail}` };
  }
  await reached(run, 'gate-opened');
  return parts.runtime.implement(
    {
      ...agentSessionOf(run, tree, planFile, request.revision),
      feedback:
        approval.feedback === undefined ? undefined : { text: approval.feedback, rejectedPlan: undefined },
      gate: posture.gate,
      signal: AbortSignal.any([run.kept.lost, parts.stopping.implementing]),
      onRunning: async ({ pid }) => {
        await changeTask(run, { running: (await identityOf(pid)) ?? null });
        await reached(run, 'work-agent-ready');
      },
    },
    {
      requestId,
      permissionMode: approval.mode,
      plan: approval.plan,
      planEdited: approval.claims.planEdited,
      decidedBy: approval.claims.decidedBy,
      notices,
      startedBefore: request.work.state !== 'none',
      confirmMode: (effective) => confirmMode(work, effective),
    },
  );
}

/** The receipt of TM-11: applied, in the mode that is really in effect. A stronger one closes the gate again. */
async function confirmMode({ run, request, posture }: Work, effective: PermissionMode): Promise<boolean> {
  const confirmed = posture.confirm(effective);
  if (confirmed.kind === 'refused') return false;
  try {
    await run.parts.port.markApplied(request.requestId, leaseOf(run).epoch, confirmed.mode);
  } catch (thrown) {
    if (isPlacetError(thrown, 'epoch_stale')) throw new SessionLost('the work was taken over');
    throw thrown;
  }
  await reached(run, 'work-applied');
  return true;
}

async function settleDone({ run, request, approval }: Work, tree: Tree): Promise<JobOutcome> {
  const { port, journal, worktrees, log } = run.parts;
  const { requestId } = request;
  const epoch = leaseOf(run).epoch;
  const made = await worktrees
    .commit(tree, commitMessage(run, request, approval))
    .catch((thrown: unknown) => {
      if (isPlacetError(thrown, 'agent_failed')) return thrown;
      throw thrown;
    });
  if (isPlacetError(made)) {
    await worktrees.discard(tree);
    await settleFailed(run, requestId, `agent_failed: ${made.message}`);
    return { kind: 'ended' };
  }
  await reached(run, 'work-committed');
  const branch = made.changed ? branchOf(run.sessionId) : undefined;
  // A copy has no commit; the plan that it was made by names it as well.
  const commit = made.commit ?? approval.plan.digest.slice('sha256:'.length, 'sha256:'.length + 40);
  if (branch) await journal.settling({ requestId, epoch, branch, commit });
  await reached(run, 'made-journaled');
  await port.settle(requestId, { epoch, state: 'done', ...(branch && { branch, commit }) });
  await reached(run, 'work-settled');
  await journal.settled(approval.claims.jti);
  await reached(run, 'settled-journaled');
  log.info({ sessionId: run.sessionId, requestId, branch, commit: made.commit }, 'the work is done');
  if (!branch) {
    await worktrees.discard(tree);
    return { kind: 'ended' };
  }
  await worktrees.publish({ source: run.source, branch, commit, tree });
  await reached(run, 'work-published');
  await worktrees.discardOthers(run.source, run.folders.trees);
  return { kind: 'ended' };
}

async function settleFailed(run: SessionRun, requestId: string, reason: string): Promise<void> {
  run.parts.log.warn({ sessionId: run.sessionId, requestId, reason }, 'the work failed');
  await run.parts.port.settle(requestId, { epoch: leaseOf(run).epoch, state: 'failed', reason });
  await reached(run, 'work-settled');
}

function commitMessage(
  { sessionId, task }: SessionRun,
  request: RequestRecord,
  { claims, plan }: Approval,
): string {
  const [line = ''] = task.job.task.trim().split('\n');
  const subject = line.length > 72 ? `${line.slice(0, 71)}…` : line;
  const rest = task.job.task.trim() === subject ? '' : `${task.job.task.trim().slice(0, 4000)}\n\n`;
  return [
    subject,
    '',
    `${rest}Placet-Request: ${request.requestId}`,
    `Placet-Session: ${sessionId}`,
    `Placet-Plan: ${plan.digest}`,
    `Placet-Decided-By: ${claims.decidedBy}`,
    `Placet-Mode: ${claims.permissionMode ?? 'default'}`,
    '',
  ].join('\n');
}
