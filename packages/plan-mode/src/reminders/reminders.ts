import type { LastAttachment, PermissionMode, ReminderState, SessionEvent } from '@placet/protocol';
import { exitText, fullReminder, type ReminderSubject, sparseReminder } from './reminder-text.ts';

/** Between two reminders there are this many messages of users (PM-51). */
export const userTurnsBetweenReminders = 5;
/** Of so many reminders, one is full: the first, the sixth, and so on (PM-51). */
export const remindersPerFullOne = 5;

/** What the model is reminded of while it plans (PM-50). */
export interface PlanModeAttachment extends ReminderSubject {
  type: 'plan_mode';
  reminderType: 'full' | 'sparse';
  text: string;
}

/** What the model is told once plan mode was left (PM-55). */
export interface PlanModeExitAttachment {
  type: 'plan_mode_exit';
  /** The mode that holds now. */
  mode: PermissionMode;
  text: string;
}

/** The part of a context that plan mode adds to it. */
export type Attachment = PlanModeAttachment | PlanModeExitAttachment;

/** A context that is about to be given to the model. */
export interface ContextTurn {
  /** The mode that the session is in now. */
  mode: PermissionMode;
  /** Whether a message of a person or of the lead came in since the last context. A tool's result is none. */
  userTurn: boolean;
  /** Whether there is a plan now. */
  planExists: boolean;
}

/**
 * Says when the model of a session is reminded of plan mode, and of what. Ask {@link next} once for each context that is
 * put together, and put what it gives into that context, where it stays.
 *
 * The session's events are best given to {@link observe}; whoever misses one is set right by the mode in `next`.
 */
export class Reminders {
  readonly #subject: Omit<ReminderSubject, 'planExists'>;
  #state: ReminderState;

  /** `state` is that of a session that came back; a new one stands outside plan mode. */
  constructor(subject: Omit<ReminderSubject, 'planExists'>, state: ReminderState = neverPlanned) {
    this.#subject = subject;
    this.#state = state;
  }

  /** What to keep of it with the session. */
  get state(): ReminderState {
    return this.#state;
  }

  /** What the model got last, for whoever looks at the session (PM-18); undefined where it got nothing since an entry. */
  get last(): LastAttachment | undefined {
    return this.#state.last;
  }

  /** Follows the session's changes of mode (PM-78); every other event is none of its business. */
  observe(event: SessionEvent): void {
    if (event.type !== 'plan:mode') return;
    if (event.mode !== 'plan') this.left();
    // Planning on in another way, such as without the auto gate, is no new entry.
    else if (event.previousMode !== 'plan' || this.#state.phase === 'outside') this.entered();
  }

  /** Plan mode was entered: the next reminder is full, and the count begins anew. */
  entered(): void {
    this.#state = begun;
  }

  /** What was said before is no longer in the context, or not as it was: as after an entry (PM-50). */
  compacted(): void {
    if (this.#state.phase === 'planning') this.#state = begun;
  }

  /** Plan mode was left: the model is told of it once, of the mode that holds when it is told. */
  left(): void {
    const { phase, turn, last } = this.#state;
    if (phase === 'planning') this.#state = { phase: 'outside', exitDue: true, turn, ...(last && { last }) };
  }

  /** What to put into this context; undefined for nothing. */
  next({ mode, userTurn, planExists }: ContextTurn): Attachment | undefined {
    if (mode !== 'plan') {
      this.left();
      return this.#exit(mode);
    }
    if (this.#state.phase !== 'planning') this.entered();
    return this.#remind(userTurn, planExists);
  }

  #exit(mode: PermissionMode): PlanModeExitAttachment | undefined {
    const state = this.#state;
    if (state.phase === 'planning' || !state.exitDue) return undefined;
    this.#state = { ...state, exitDue: false, last: { reminderType: 'exit', turn: state.turn } };
    return { type: 'plan_mode_exit', mode, text: exitText(mode) };
  }

  #remind(userTurn: boolean, planExists: boolean): PlanModeAttachment | undefined {
    const state = this.#state.phase === 'planning' ? this.#state : begun;
    const turn = state.turn + (userTurn && state.last ? 1 : 0); // turns are counted from the first reminder
    if (state.last && turn - state.last.turn < userTurnsBetweenReminders) {
      this.#state = { ...state, turn };
      return undefined;
    }
    const given = state.given + 1;
    const reminderType = given % remindersPerFullOne === 1 ? 'full' : 'sparse';
    this.#state = { phase: 'planning', given, turn, last: { reminderType, turn } };
    const subject = { ...this.#subject, planExists };
    const text = reminderType === 'full' ? fullReminder(subject) : sparseReminder(subject);
    return { type: 'plan_mode', reminderType, ...subject, text };
  }
}

const begun: Extract<ReminderState, { phase: 'planning' }> = { phase: 'planning', given: 0, turn: 0 };
const neverPlanned: ReminderState = { phase: 'outside', exitDue: false, turn: 0 };
