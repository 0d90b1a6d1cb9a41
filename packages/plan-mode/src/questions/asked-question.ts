import {
  type Answers,
  type Clock,
  fromTimestamp,
  type QuestionEnd,
  type Timestamp,
  toTimestamp,
} from '@placet/protocol';
import type { Stopped } from './ask-end.ts';
import type { KeptQuestion } from './questions-snapshot.ts';
import { maxTimerMs, type Timer } from './timer.ts';

/** What a question needs of its session. */
export interface QuestionSurroundings {
  clock: Clock;
  timer: Timer;
  /** After how much silence the person counts as away, as things are now; undefined where they do not (PM-65). */
  afkTimeoutMs(): number | undefined;
  /** Told once, before those who wait are. `delivered`: somebody waited for it. */
  onEnd(question: AskedQuestion, end: QuestionEnd, delivered: boolean): void;
}

/**
 * One question or consent from asking to its end. It ends once: by an answer, by its deadline, or because the person is
 * away; or it is stopped. Whatever comes first counts, and everybody who waits gets it.
 */
export class AskedQuestion {
  readonly #around: QuestionSurroundings;
  readonly #waiting: ((end: QuestionEnd | Stopped) => void)[] = [];
  #kept: KeptQuestion;
  /** The last sign of a person, in milliseconds since the epoch. */
  #lastSignAt: number;
  #stopped: Stopped | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(kept: KeptQuestion, around: QuestionSurroundings) {
    this.#kept = kept;
    this.#around = around;
    this.#lastSignAt = around.clock.now();
    this.#arm();
  }

  /** The question as plain data. */
  get kept(): KeptQuestion {
    return this.#kept;
  }

  get isOpen(): boolean {
    return this.#kept.end === undefined && !this.#stopped;
  }

  /** When it goes on without the person, for a countdown; undefined where it does not. Moves with each sign of them. */
  get afkAt(): Timestamp | undefined {
    const at = this.#afkAt();
    return at === undefined ? undefined : toTimestamp(at);
  }

  /** Waits for the end; at once where it has ended. Never rejects. */
  wait(): Promise<QuestionEnd | Stopped> {
    const over = this.#kept.end ?? this.#stopped;
    if (over) return Promise.resolve(over);
    const ended = new Promise<QuestionEnd | Stopped>((resolve) => void this.#waiting.push(resolve));
    // The person is shown it from now on.
    this.sign();
    return ended;
  }

  /** Notes what is chosen so far, in place of what was. */
  choose(chosen: Answers): void {
    this.#kept = { ...this.#kept, chosen };
    this.sign();
  }

  /** Notes that a person is there, or that what is around has changed: silence begins anew. */
  sign(): void {
    this.#lastSignAt = this.#around.clock.now();
    this.#arm();
  }

  end(end: QuestionEnd): void {
    if (!this.isOpen) return;
    const { chosen: _, ...kept } = this.#kept;
    this.#kept = { ...kept, end };
    this.#cancelTimer();
    this.#around.onEnd(this, end, this.#waiting.length > 0);
    this.#tell(end);
  }

  /** Lets go of it without an end. */
  stop(stopped: Stopped): void {
    this.#stopped = stopped;
    this.#cancelTimer();
    this.#tell(stopped);
  }

  #tell(end: QuestionEnd | Stopped): void {
    for (const resolve of this.#waiting.splice(0)) resolve(end);
  }

  #afkAt(): number | undefined {
    // Somebody is away from a question only where a turn waits for it.
    const isAsked = this.isOpen && this.#kept.ask.kind === 'questions' && this.#waiting.length > 0;
    const timeoutMs = isAsked ? this.#around.afkTimeoutMs() : undefined;
    return timeoutMs === undefined ? undefined : this.#lastSignAt + timeoutMs;
  }

  #arm(): void {
    this.#cancelTimer();
    if (!this.isOpen) return;
    const wakeAt = Math.min(fromTimestamp(this.#kept.deadline), this.#afkAt() ?? Number.POSITIVE_INFINITY);
    const inMs = Math.max(0, Math.min(wakeAt - this.#around.clock.now(), maxTimerMs));
    this.#cancelTimer = this.#around.timer.after(inMs, () => this.#wake());
  }

  /** Looks what time it is and how things are now, for both may have changed since the timer was set. */
  #wake(): void {
    if (!this.isOpen) return;
    const now = this.#around.clock.now();
    const timeoutMs = this.#around.afkTimeoutMs();
    const afkAt = this.#afkAt();
    if (now >= fromTimestamp(this.#kept.deadline)) this.end({ kind: 'unanswered' });
    else if (timeoutMs !== undefined && afkAt !== undefined && now >= afkAt) {
      const answers = this.#kept.chosen ?? {};
      const hadPartialAnswers = Object.keys(answers).length > 0;
      this.end({ kind: 'answered', answers, afkTimeoutMs: timeoutMs, hadPartialAnswers });
    } else this.#arm();
  }
}
