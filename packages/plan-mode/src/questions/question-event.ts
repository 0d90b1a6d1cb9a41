import type { Principal, QuestionEnd, RequestId, SessionId, Timestamp } from '@placet/protocol';

/** What happened. */
export type EventFacts =
  | { type: 'question:asked' }
  /** The host shuts down and keeps it (PM-66). */
  | { type: 'question:parked' }
  | {
      type: 'question:ended';
      end: 'answered' | 'consent' | 'unanswered' | 'interrupted';
      answeredBy?: Principal;
      /** Set where the person was away (PM-65). */
      afkTimeoutMs?: number;
      hadPartialAnswers?: boolean;
    };

/** What happened to a question or consent, without a word of what was asked or answered. */
export type QuestionEvent = EventFacts & {
  requestId: RequestId;
  sessionId: SessionId;
  at: Timestamp;
  kind: 'questions' | 'consent';
  /** Whether the session was planning when it asked (PM-65). */
  inPlanMode: boolean;
};

/** What an event says of an end. */
export function endedFacts(end: QuestionEnd): EventFacts {
  const by = end.kind === 'unanswered' || end.answeredBy === undefined ? {} : { answeredBy: end.answeredBy };
  if (end.kind !== 'answered') return { type: 'question:ended', end: end.kind, ...by };
  const { afkTimeoutMs, hadPartialAnswers } = end;
  return {
    type: 'question:ended',
    end: 'answered',
    ...by,
    ...(afkTimeoutMs !== undefined && { afkTimeoutMs }),
    ...(hadPartialAnswers !== undefined && { hadPartialAnswers }),
  };
}
