import { setTimeout as pause } from 'node:timers/promises';
import type { SubmitResult } from '@placet/mailbox';
import { outcomeText, type StoredPlan } from '@placet/plan-mode';
import { isPlacetError, type PlacetError, type Submission } from '@placet/protocol';
import type { Intent } from './journal.ts';
import { isPassing, leaseOf, prePlanModeOf, SessionLost, type SessionRun } from './session-run.ts';

const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** What came of sending a plan. */
export type SubmitOutcome =
  | { kind: 'stored'; result: SubmitResult }
  | { kind: 'refused'; error: PlacetError };

/**
 * Sends a plan under the ID that was persisted for it. While the store cannot take it, it is sent again and again under
 * that same ID, however long that lasts (TM-4); nothing else happens in the meantime.
 * @throws SessionLost when the session is in other hands, or may be, or the process stops: whoever has it next goes on
 */
export async function submitPlan(
  run: SessionRun,
  intent: Intent,
  plan: StoredPlan,
  planFilePath: string,
): Promise<SubmitOutcome> {
  const { port, log, stopping } = run.parts;
  const submission = submissionOf(run, intent, plan, planFilePath);
  const signal = AbortSignal.any([run.kept.lost, stopping.planning]);
  for (let waitMs = firstPauseMs; ; waitMs = Math.min(waitMs * 2, longestPauseMs)) {
    if (signal.aborted) throw new SessionLost('the plan is submitted by whoever has the session next');
    try {
      return { kind: 'stored', result: await port.submit(submission, leaseOf(run)) };
    } catch (thrown) {
      if (isPlacetError(thrown, 'epoch_stale')) throw new SessionLost('the session is in other hands');
      if (isPlacetError(thrown) && !isPassing(thrown)) return { kind: 'refused', error: thrown };
      if (!isPassing(thrown)) throw thrown;
      const code = waitMs === firstPauseMs ? 'plan_not_submitted' : thrown.code;
      log.warn(
        { sessionId: run.sessionId, requestId: intent.requestId, code },
        outcomeText({ kind: 'not_submitted', planFilePath }),
      );
    }
    await pause(waitMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined); // seen at the top
  }
}

function submissionOf(run: SessionRun, intent: Intent, plan: StoredPlan, planFilePath: string): Submission {
  const { task, parts } = run;
  const [firstLine = ''] = task.job.task.trim().split('\n');
  return {
    type: 'plan_approval_request',
    requestId: intent.requestId,
    from: parts.port.teammate,
    team: parts.port.team,
    planFilePath,
    planContent: plan.text,
    planDigest: plan.digest,
    sessionId: run.sessionId,
    revision: intent.revision,
    ...(intent.supersedes && { supersedes: intent.supersedes }),
    prePlanMode: prePlanModeOf(task),
    executionTarget: 'local',
    deadlineMs: task.job.deadlineMs ?? parts.settings.deadlineMs,
    labels: task.job.labels ?? {},
    ...(firstLine && { summary: Array.from(firstLine).slice(0, 80).join('') }),
    workspace: intent.workspace,
  };
}
