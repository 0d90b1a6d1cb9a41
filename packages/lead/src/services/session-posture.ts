import type { SessionName, SessionView } from '@placet/mailbox';
import type { OpenQuestion, RequestRecord, SessionPosture, TaskRecord } from '@placet/protocol';

/** What is known of a session, from where it is known. */
export interface SessionParts {
  name: SessionName;
  view: SessionView;
  task: TaskRecord | undefined;
  /** The latest request. */
  request: RequestRecord | undefined;
  openQuestions: OpenQuestion[];
}

/**
 * Puts a session's whole chain together (PM-18): what its host reported, what the store knows better, and in words what
 * is not there. What nobody said counts as the stricter: planning, and only a verified decision ends it.
 */
export function postureOf(parts: SessionParts): SessionPosture {
  const { name, view, task, request, openQuestions } = parts;
  const { said, at: reportedAt } = view.report ?? {};
  const prePlanMode = said?.prePlanMode ?? task?.prePlanMode;
  return {
    ...name,
    ...(task && { phase: task.phase }),
    mode: {
      ...(said && { is: said.mode, cause: said.cause, entry: said.entry, since: said.since, reportedAt }),
      from: said ? 'host' : 'nobody',
    },
    ...(prePlanMode && { prePlanMode }),
    planModeRequired: said?.planModeRequired ?? true,
    plan: planOf(parts),
    ...(said?.attachment && { lastAttachment: said.attachment }),
    refusals: said?.refusals ?? { total: 0, most: [] },
    ...(request && linksOf(request)),
    openQuestions: openQuestions.map(headOf),
    workingList: said?.workingList ?? [],
    usage: said?.usage ?? {},
    ...(said?.announcement !== undefined && { announcement: said.announcement }),
    missing: [...missingOfHost(parts), ...missingOfRequest(parts)],
  };
}

function headOf(question: OpenQuestion): SessionPosture['openQuestions'][number] {
  const { requestId, team, teammate, sessionId, askedAt, deadline, inPlanMode, ask } = question;
  const { kind } = ask;
  return { requestId, team, teammate, sessionId, askedAt, ...(deadline && { deadline }), inPlanMode, kind };
}

function planOf({ view, request }: SessionParts): SessionPosture['plan'] {
  const plan = view.report?.said.plan ?? request?.plan;
  return plan ? { path: plan.path, ...(plan.digest && { digest: plan.digest }) } : {};
}

function linksOf({
  requestId,
  state,
  revision,
  plan,
  deadline,
  decision,
  work,
}: RequestRecord): Pick<SessionPosture, 'request' | 'decision' | 'work' | 'effectiveMode'> {
  return {
    request: { requestId, state, revision, planDigest: plan.digest, deadline },
    ...(decision && { decision }),
    work,
    ...(work.effectiveMode && { effectiveMode: work.effectiveMode }),
  };
}

/** What the session's host did not say. */
function missingOfHost(parts: SessionParts): string[] {
  const { said } = parts.view.report ?? {};
  if (!said) return ["a report of the session's host: until there is one, the session counts as planning"];
  const missing: string[] = [];
  if (!said.cause) missing.push('why the session is in this mode');
  if (said.planModeRequired === undefined)
    missing.push('whether only a decision ends planning: it counts as so');
  if (said.mode === 'plan' && !said.prePlanMode) missing.push('the mode to go back to');
  if (said.mode === 'plan' && !said.attachment)
    missing.push('a reminder: the model was not told that it plans');
  const plan = planOf(parts);
  if (plan.path === undefined) missing.push('a plan: no file is known');
  else if (plan.digest === undefined) missing.push('the digest of the plan: nothing is written yet');
  return missing;
}

/** Which link between a plan and the mode that its approval put into effect is not there. */
function missingOfRequest({ view, request }: SessionParts): string[] {
  if (!request) return ['a request: no plan was submitted'];
  const { state, work, plan } = request;
  const written = view.report?.said.plan?.digest;
  if (state === 'pending') {
    const isOld = written !== undefined && written !== plan.digest;
    return [
      ...(isOld ? ['a request for the plan as it is now: it was changed after it was submitted'] : []),
      'a decision: the request is pending',
    ];
  }
  if (state !== 'approved') return [`an approval: the latest request is ${state}`];
  if (view.hasEnteredSince) return ['an approval that stands: the session has entered plan mode again since'];
  if (work.state === 'none') return ['the start of the work: nobody has claimed it'];
  if (!work.effectiveMode) return ['the mode in effect: the gate is not known to have opened'];
  return [];
}
