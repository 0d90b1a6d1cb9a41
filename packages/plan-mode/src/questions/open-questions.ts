import { randomUUID } from 'node:crypto';
import {
  type Clock,
  defaultDeadlineMs,
  type Log,
  openQuestionLimits,
  type Principal,
  type QuestionEnd,
  type RequestId,
  type SessionId,
  silentLog,
  systemClock,
  toTimestamp,
} from '@placet/protocol';
import { type Refused, refuse } from '../posture/refused.ts';
import { afkTimeoutMs } from './afk-timeout.ts';
import type { ConsentEnd, QuestionsEnd, Stopped } from './ask-end.ts';
import { AskedQuestion } from './asked-question.ts';
import { judgeChosen } from './judge-answers.ts';
import { type EndVerdict, judgeEnd } from './judge-end.ts';
import { judgeQuestions } from './judge-questions.ts';
import type { AskOptions, OpenQuestionsOptions, ShownQuestion } from './open-questions-options.ts';
import { type EventFacts, endedFacts } from './question-event.ts';
import {
  type Ask,
  faultOfKept,
  type KeptQuestion,
  type QuestionsSnapshot,
  readSnapshot,
} from './questions-snapshot.ts';
import { notAsked, type RefusedAsk } from './refused-ask.ts';
import { systemTimer } from './timer.ts';

/** How many ends are remembered, so that an answer that comes too late is told so. */
const maxRemembered = openQuestionLimits.session;

/**
 * The owner of a session's open questions and consents (PM-64 to PM-66), in memory. Asking blocks: its promise never
 * rejects and settles by an answer, the deadline, the person being away, `signal`, {@link park} or {@link interrupt}. Of
 * several that come at once the first counts and the others are refused. Every call takes effect before it returns.
 *
 * To survive a crash too, a host keeps {@link snapshot} after each event.
 */
export class OpenQuestions {
  readonly sessionId: SessionId;
  readonly #options: OpenQuestionsOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #asked = new Map<RequestId, AskedQuestion>();
  readonly #remembered = new Map<RequestId, KeptQuestion>();
  #closedBy: 'park' | 'interrupt' | undefined;

  constructor(options: OpenQuestionsOptions) {
    this.sessionId = options.sessionId;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
  }

  /**
   * The questions of a session whose host has returned (PM-66), open under their IDs; {@link wait} takes one up. One whose
   * deadline has passed ends unanswered. Nobody counts as away before somebody waits.
   * @throws PlacetError `validation_failed` for what is no snapshot of this session.
   */
  static restore(options: OpenQuestionsOptions, snapshot: unknown): OpenQuestions {
    const { questions } = readSnapshot(options.sessionId, snapshot);
    const restored = new OpenQuestions(options);
    for (const kept of questions) restored.#open(kept);
    return restored;
  }

  /** Asks questions and blocks until they end. They are judged here, whoever calls: what is refused nobody is shown. */
  async ask(questions: unknown, options: AskOptions): Promise<QuestionsEnd | RefusedAsk> {
    const verdict = judgeQuestions({ questions });
    if (verdict.kind === 'refused') return verdict;
    const end = await this.#ask({ kind: 'questions', questions: verdict.questions }, options);
    return end.kind === 'consent' ? notAsked('internal', 'a consent is no answer to questions') : end;
  }

  /** Asks whether the session may plan first (PM-12), and blocks like {@link ask}; nobody counts as away from it. */
  async askConsent(reason: string | undefined, options: AskOptions): Promise<ConsentEnd | RefusedAsk> {
    const ask: Ask = { kind: 'consent', ...(reason !== undefined && { reason }) };
    const end = await this.#ask(ask, options);
    return end.kind === 'answered' ? notAsked('internal', 'answers are no consent') : end;
  }

  /** Takes a question up again: waits for its end, which may be there already. A `signal` takes it back. */
  async wait(requestId: RequestId, signal?: AbortSignal): Promise<QuestionEnd | Stopped | Refused> {
    const asked = this.#asked.get(requestId);
    const end = asked?.kept.end ?? this.#remembered.get(requestId)?.end;
    if (asked && end) this.#remember(asked);
    if (end) return end;
    return asked ? this.#waitFor(asked, signal) : refuse('not_found', `there is no question ${requestId}`);
  }

  /** What is open, oldest first. */
  get open(): ShownQuestion[] {
    return [...this.#asked.values()]
      .filter(({ isOpen }) => isOpen)
      .map(({ kept, afkAt }) => ({ ...kept, ...(afkAt && { afkAt }) }));
  }

  /** Notes what a person has chosen so far, in place of what was noted; sent if they go away (PM-65). */
  choose(requestId: RequestId, chosen: unknown): { kind: 'noted' } | Refused {
    const asked = this.#find(requestId);
    if (!(asked instanceof AskedQuestion)) return asked;
    const { ask } = asked.kept;
    if (ask.kind !== 'questions') return refuse('validation_failed', 'a consent has no answers to note');
    const verdict = judgeChosen(ask.questions, chosen);
    if (verdict.kind === 'refused') return verdict;
    asked.choose(verdict.answers);
    return { kind: 'noted' };
  }

  /**
   * Answers a question or consent, for a person at a surface: never with what a model said. All of it is taken, or it is
   * refused and the question stays open: `validation_failed`, `not_found`, `already_decided` where it has ended, and
   * `session_busy` while the host shuts down, to be sent again to the one that returns.
   */
  answer(requestId: RequestId, body: unknown, answeredBy?: Principal): EndVerdict {
    return this.#endBy(requestId, (ask) => judgeEnd(ask, body, answeredBy));
  }

  /** Ends a question whose time ran out, or that was taken back, elsewhere: nobody answered (TM-15). */
  leaveUnanswered(requestId: RequestId): EndVerdict {
    return this.#endBy(requestId, () => ({ kind: 'taken', end: { kind: 'unanswered' } }));
  }

  /** A host says that the conditions of PM-65 are others now, or that a person is there: silence begins anew. */
  conditionsChanged(): void {
    for (const asked of this.#asked.values()) asked.sign();
  }

  /** The questions as plain JSON: what is open, and what has ended without anybody having heard of it. */
  snapshot(): QuestionsSnapshot {
    const questions = [...this.#asked.values()].map(({ kept }) => kept);
    return { version: 1, sessionId: this.sessionId, questions };
  }

  /**
   * Ends this owner because its host shuts down (PM-66): whoever waits is told `parked`, the questions are in the snapshot
   * and open wherever that is restored. Nothing is answered here any more. Again, it gives the same.
   */
  park(): QuestionsSnapshot {
    if (this.#closedBy === undefined) {
      this.#closedBy = 'park';
      for (const asked of this.#asked.values()) {
        if (!asked.isOpen) continue;
        asked.stop({ kind: 'parked', requestId: asked.kept.requestId });
        this.#tell(asked.kept, { type: 'question:parked' });
      }
    }
    return this.snapshot();
  }

  /**
   * As {@link park}, by the policy `interrupt` (PM-66): the questions end with the turn, also parked ones. What is in the
   * snapshot then has been answered, and nobody has heard of it yet.
   */
  interrupt(): void {
    this.#closedBy = 'interrupt';
    for (const asked of this.#asked.values()) this.#interrupt(asked, 'shutdown');
  }

  async #ask(ask: Ask, options: AskOptions): Promise<QuestionEnd | Stopped | RefusedAsk> {
    const { requestId = (this.#options.newRequestId ?? madeId)(), signal, inPlanMode } = options;
    const known = this.#asked.get(requestId)?.kept ?? this.#remembered.get(requestId);
    if (known) {
      if (JSON.stringify(known.ask) !== JSON.stringify(ask))
        return notAsked('request_conflict', `${requestId} stands for another question`);
      const end = await this.wait(requestId, signal);
      return end.kind === 'refused' ? notAsked(end.code, end.detail) : end;
    }
    if (this.#closedBy) return { kind: 'interrupted', cause: 'shutdown' };
    if (signal?.aborted) return { kind: 'interrupted', cause: 'withdrawn' };
    if (!this.#hasRoom())
      return notAsked('rate_limited', `${openQuestionLimits.session} questions of the session are open`);
    const now = this.#clock.now();
    const { deadline = toTimestamp(now + defaultDeadlineMs) } = options;
    const kept = { requestId, askedAt: toTimestamp(now), deadline, inPlanMode, ask };
    // What could not be read back would cost the session its other questions.
    const fault = faultOfKept(kept);
    if (fault) return notAsked('validation_failed', fault);
    const asked = this.#open(kept);
    const ended = this.#waitFor(asked, signal);
    this.#tell(asked.kept, { type: 'question:asked' });
    return ended;
  }

  /** Whether one more can be open. Where the snapshot is full, the oldest that nobody came back for goes first. */
  #hasRoom(): boolean {
    if (this.#asked.size < openQuestionLimits.session) return true;
    const [oldest] = [...this.#asked.values()].filter(({ isOpen }) => !isOpen);
    if (oldest) this.#remember(oldest);
    return oldest !== undefined;
  }

  #open(kept: KeptQuestion): AskedQuestion {
    const asked = new AskedQuestion(kept, {
      clock: this.#clock,
      timer: this.#options.timer ?? systemTimer,
      afkTimeoutMs: () => this.#afkTimeoutMs(),
      onEnd: (ended, end, delivered) => {
        if (delivered) this.#remember(ended);
        this.#tell(ended.kept, endedFacts(end));
      },
    });
    this.#asked.set(kept.requestId, asked);
    return asked;
  }

  async #waitFor(asked: AskedQuestion, signal: AbortSignal | undefined): Promise<QuestionEnd | Stopped> {
    const takeBack = () => this.#interrupt(asked, 'withdrawn');
    const ended = asked.wait();
    if (signal?.aborted) takeBack();
    signal?.addEventListener('abort', takeBack, { once: true });
    try {
      return await ended;
    } finally {
      signal?.removeEventListener('abort', takeBack);
    }
  }

  #endBy(requestId: RequestId, judge: (ask: Ask) => EndVerdict): EndVerdict {
    const asked = this.#find(requestId);
    if (!(asked instanceof AskedQuestion)) return asked;
    const verdict = judge(asked.kept.ask);
    if (verdict.kind === 'taken') asked.end(verdict.end);
    return verdict;
  }

  #find(requestId: RequestId): AskedQuestion | Refused {
    const asked = this.#asked.get(requestId);
    if (asked?.isOpen) return asked;
    if (asked?.kept.end || this.#remembered.has(requestId))
      return refuse('already_decided', `question ${requestId} has ended already`);
    if (asked)
      return refuse('session_busy', `question ${requestId} is kept while its host is away; answer it then`);
    return refuse('not_found', `there is no question ${requestId}`);
  }

  #interrupt(asked: AskedQuestion, cause: 'shutdown' | 'withdrawn'): void {
    if (asked.kept.end || !this.#asked.delete(asked.kept.requestId)) return;
    asked.stop({ kind: 'interrupted', cause });
    this.#tell(asked.kept, { type: 'question:ended', end: 'interrupted' });
  }

  #remember(asked: AskedQuestion): void {
    const { requestId } = asked.kept;
    this.#asked.delete(requestId);
    this.#remembered.set(requestId, asked.kept);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }

  #afkTimeoutMs(): number | undefined {
    try {
      const conditions = this.#options.afkConditions?.();
      return conditions && afkTimeoutMs(conditions);
    } catch (error) {
      this.#log.warn(
        { err: error, sessionId: this.sessionId },
        'the AFK conditions are not known; nobody is away',
      );
      return undefined;
    }
  }

  #tell({ requestId, inPlanMode, ask }: KeptQuestion, what: EventFacts): void {
    const at = toTimestamp(this.#clock.now());
    try {
      this.#options.onEvent?.({
        requestId,
        sessionId: this.sessionId,
        at,
        kind: ask.kind,
        inPlanMode,
        ...what,
      });
    } catch (error) {
      this.#log.error({ err: error, requestId, type: what.type }, 'a listener to question events failed');
    }
  }
}

function madeId(): RequestId {
  return `question-${randomUUID()}`;
}
