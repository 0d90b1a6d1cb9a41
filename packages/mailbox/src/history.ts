import type {
  Decision,
  Digest,
  Outcome,
  PermissionMode,
  QuestionEnd,
  TeamEventBody,
  WorkState,
} from '@placet/protocol';
import { packEvent } from './packed-event.ts';

/** Which request something happened to. */
export interface Subject {
  teammate: string;
  sessionId: string;
  requestId: string;
}

/** What one step appends to a team's event log and to its audit log, as their readers get it. */
export interface History {
  event: string;
  audit: string;
}

/** A request was stored. */
export function submittedHistory(
  team: string,
  subject: Subject,
  { planDigest, revision }: { planDigest: Digest; revision: number },
): History {
  return {
    event: packEvent(team, { type: 'plan:proposed', ...subject, planDigest, revision }),
    audit: JSON.stringify({ act: 'submitted', request: subject.requestId, plan: planDigest }),
  };
}

/** A lead decided. */
export function decidedHistory(subject: Subject, decision: Decision, jti: string): History {
  const { outcome, permissionMode, decidedBy, approvedPlanDigest } = decision;
  return {
    event: eventText({
      type: 'plan:decided',
      ...subject,
      outcome,
      ...(permissionMode && { permissionMode }),
      by: decidedBy,
    }),
    audit: JSON.stringify({
      act: outcome,
      request: subject.requestId,
      plan: approvedPlanDigest,
      ...(permissionMode && { mode: permissionMode }),
      by: decidedBy,
      jti,
    }),
  };
}

/** A request ended without a decision. */
export function endedHistory(subject: Subject, outcome: Exclude<Outcome, Decision['outcome']>): History {
  return {
    event: eventText({ type: 'plan:decided', ...subject, outcome }),
    audit: JSON.stringify({ act: outcome, request: subject.requestId }),
  };
}

/** What changed about the work under an approval. */
export interface WorkChange {
  state: Exclude<WorkState, 'none'> | 'delivered';
  epoch?: number | undefined;
  reason?: string | undefined;
  /** Where the result is to be found. */
  branch?: string | undefined;
  mode?: PermissionMode | undefined;
}

/** The work under an approval changed its state. */
export function workHistory(subject: Subject, { state, epoch, reason, mode, branch }: WorkChange): History {
  return {
    event: eventText({
      type: 'work',
      ...subject,
      state,
      ...(epoch !== undefined && { epoch }),
      ...(reason !== undefined && { reason }),
      ...(branch !== undefined && { branch }),
    }),
    audit: JSON.stringify({ act: `work:${state}`, request: subject.requestId, epoch, mode, reason }),
  };
}

/** A question or consent was opened. */
export function askedHistory(subject: Subject, kind: 'questions' | 'consent'): History {
  return {
    event: eventText({ type: 'question', ...subject, kind, state: 'asked' }),
    audit: JSON.stringify({ act: 'question:asked', request: subject.requestId }),
  };
}

/** A question or consent ended; of an answer the audit log has the digest, and neither log its words. */
export function endedQuestionHistory(
  subject: Subject,
  { kind, end, digest }: { kind: 'questions' | 'consent'; end: QuestionEnd; digest: Digest },
): History {
  const state = end.kind === 'unanswered' ? 'unanswered' : 'answered';
  const by = end.kind === 'unanswered' ? undefined : end.answeredBy;
  const said = state === 'answered' ? { answer: digest, by } : {};
  return {
    event: eventText({ type: 'question', ...subject, kind, state, ...(by !== undefined && { by }) }),
    audit: JSON.stringify({ act: `question:${state}`, request: subject.requestId, ...said }),
  };
}

/** A lead ordered a session into plan mode, or out of it (PM-18). */
export function orderHistory(
  { teammate, sessionId }: Omit<Subject, 'requestId'>,
  { mode, by }: { mode: PermissionMode; by: string },
): History {
  const cause = mode === 'plan' ? 'entered' : 'exited';
  const announcement =
    mode === 'plan'
      ? `${by} has the session plan: nothing is changed before a plan is approved.`
      : `${by} has the session leave plan mode without an approval, to ${mode}.`;
  return {
    event: eventText({ type: 'plan:mode', teammate, sessionId, mode, cause, announcement, by }),
    audit: JSON.stringify({ act: 'mode:ordered', teammate, session: sessionId, mode, by }),
  };
}

function eventText(body: TeamEventBody): string {
  return JSON.stringify(body);
}
