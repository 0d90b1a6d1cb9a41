import { isSettled, isTaskOver, type RequestRecord, type TaskRecord } from '@placet/protocol';

/** What a session is owed next. Whoever holds it finds that out here and nowhere else. */
export type NextStep =
  /** Nothing: it is over, or it waits for somebody else. */
  | { kind: 'rest' }
  /** Make a plan; `previous` is what the one before came to. */
  | { kind: 'plan'; revision: number; previous: RequestRecord | undefined }
  /** Send a plan whose submission was begun and is not in the store (TM-4). */
  | { kind: 'submit'; requestId: string }
  /** Read a decision, and do what it says if it is genuine. */
  | { kind: 'decide'; request: RequestRecord }
  /** Point the branch to what was settled (TM-16); anyone may repeat it. */
  | { kind: 'publish'; request: RequestRecord; branch: string; commit: string }
  /** Say that the task is over. */
  | { kind: 'end'; phase: 'done' | 'failed' | 'withdrawn'; reason: string | undefined };

/** What {@link nextStep} looks at. */
export interface Situation {
  task: TaskRecord;
  /** The latest request in the store. */
  request: RequestRecord | undefined;
  /** The last submission that was begun, by this teammate's journal or else by the task's record. */
  intent: { requestId: string } | undefined;
  /** Whether the store has the request of that submission. */
  intentIsStored: boolean;
  maxRevisions: number;
  /** Whether a task that ran out of time is to be tried again (TM-7). */
  resume: boolean;
  onBaseMoved: 'notice' | 'replan' | 'refuse';
  /** Whether the agent that made the plan cannot be resumed and does not live in this process (TM-6). */
  agentIsLost: boolean;
}

/** Says what a session is owed next (TM-4 to TM-8). A job only says: look at this session. Pure. */
export function nextStep(situation: Situation): NextStep {
  const { task, request, intent, intentIsStored } = situation;
  if (isTaskOver(task.phase) && !isTriedAgain(situation)) return publicationOf(situation);
  if (intent && !intentIsStored) return { kind: 'submit', requestId: intent.requestId };
  if (!request) return { kind: 'plan', revision: 1, previous: undefined };
  switch (request.state) {
    case 'pending':
      return { kind: 'rest' };
    case 'approved':
      if (isSettled(request.work.state)) return afterWork(situation, request);
      return situation.agentIsLost ? replan(situation, request) : { kind: 'decide', request };
    case 'rejected':
    case 'teleport':
      return { kind: 'decide', request };
    case 'timeout':
      return situation.resume
        ? replan(situation, request)
        : { kind: 'end', phase: 'failed', reason: 'plan_timeout' };
    case 'withdrawn':
      return { kind: 'end', phase: 'withdrawn', reason: undefined };
    case 'superseded':
      return { kind: 'rest' }; // by a request that the task does not know yet: its own wake-up follows
  }
}

/** The step after a rejection that was verified, or a plan that is to be made again for another reason. */
export function replan(
  { task, maxRevisions }: Pick<Situation, 'task' | 'maxRevisions'>,
  previous: RequestRecord,
): NextStep {
  const revision = Math.max(task.revision, previous.revision) + 1;
  if (revision > maxRevisions) return { kind: 'end', phase: 'failed', reason: 'revisions_exhausted' };
  return { kind: 'plan', revision, previous };
}

function isTriedAgain({ task, resume, onBaseMoved }: Situation): boolean {
  if (task.phase !== 'failed') return false;
  if (task.reason === 'base_moved' && onBaseMoved === 'replan') return true;
  return resume && task.reason === 'plan_timeout';
}

function publicationOf({ task, request }: Situation): NextStep {
  const { branch, commit } = task;
  if (task.phase !== 'done' || request?.work.state !== 'done' || !branch || !commit) return { kind: 'rest' };
  return { kind: 'publish', request, branch, commit };
}

/** The work is settled, and the task's phase does not say so yet, or is to be tried again. */
function afterWork(situation: Situation, request: RequestRecord): NextStep {
  const { work } = request;
  if (work.state === 'done') {
    const { branch, commit } = situation.task;
    return branch && commit
      ? { kind: 'publish', request, branch, commit }
      : { kind: 'end', phase: 'done', reason: undefined };
  }
  if (work.reason === 'base_moved' && situation.onBaseMoved === 'replan') return replan(situation, request);
  return { kind: 'end', phase: 'failed', reason: work.reason ?? 'agent_failed' };
}
