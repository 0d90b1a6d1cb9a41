import type { QuestionEnd, RequestId } from '@placet/protocol';

/** Somebody answered, or was away while they did (PM-65). */
export type Answered = Extract<QuestionEnd, { kind: 'answered' }>;
/** Somebody said whether the session may plan first (PM-12). */
export type Consented = Extract<QuestionEnd, { kind: 'consent' }>;
/** Time ran out. */
export type Unanswered = Extract<QuestionEnd, { kind: 'unanswered' }>;

/**
 * Asking stopped without an end of the question's own. `parked`: the host shuts down, and the question stays open under
 * its ID (PM-66). `interrupted`: it was taken back, by a host that shuts down or because the turn was stopped.
 */
export type Stopped =
  | { kind: 'parked'; requestId: RequestId }
  | { kind: 'interrupted'; cause: 'shutdown' | 'withdrawn' };

/** How asking questions ended. None of the ways approves a plan. */
export type QuestionsEnd = Answered | Unanswered | Stopped;
/** How asking for consent ended; all but a `consent` mean `cancelled`, or that it is still open. */
export type ConsentEnd = Consented | Unanswered | Stopped;
