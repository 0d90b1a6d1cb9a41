import type { Clock, Log, RequestId, SessionId, Timestamp } from '@placet/protocol';
import type { AfkConditions } from './afk-timeout.ts';
import type { QuestionEvent } from './question-event.ts';
import type { KeptQuestion } from './questions-snapshot.ts';
import type { Timer } from './timer.ts';

/** What the open questions of a session are made of. */
export interface OpenQuestionsOptions {
  sessionId: SessionId;
  /** How things are now, for PM-65; asked whenever it matters. Nobody is ever away, unless set or when it throws. */
  afkConditions?: () => AfkConditions;
  /** The machine's unless set. */
  clock?: Clock;
  /** The machine's unless set. */
  timer?: Timer;
  /** Makes request IDs; `question-<uuid>` unless set. */
  newRequestId?: () => RequestId;
  /** Told of each event once it is true. What it throws is logged. */
  onEvent?: (event: QuestionEvent) => void;
  /** Says nothing unless set. */
  log?: Log;
}

/** How something is asked. */
export interface AskOptions {
  /** Whether the session is planning. */
  inPlanMode: boolean;
  /** Stable over restarts: asked again under it, the same question is taken up and not shown twice. New unless set. */
  requestId?: RequestId;
  /** When it ends unanswered; 24 h from now unless set. */
  deadline?: Timestamp;
  /** Takes the question back, as when the turn is stopped. */
  signal?: AbortSignal;
}

/** An open question, as a surface shows it. */
export interface ShownQuestion extends Omit<KeptQuestion, 'end'> {
  /** When it goes on without the person, for a countdown (PM-65). */
  afkAt?: Timestamp;
}
