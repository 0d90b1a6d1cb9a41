import type { OpenQuestion, QuestionPage, QuestionRecord, RequestId, TeamName } from '@placet/protocol';
import { keyOf } from './keys.ts';
import { type AskCommand, type AskResult, askQuestion } from './question-asking.ts';
import { type QuestionName, type QuestionParts, toQuestionRecord } from './question-codec.ts';
import { type AnswerCommand, answerQuestion, takeBackQuestion } from './question-ending.ts';
import { listQuestions, openInSession, type QuestionQuery } from './question-listing.ts';
import { QuestionReader } from './question-reader.ts';
import { expireQuestions, purgeQuestions } from './question-sweeping.ts';
import { storeCall } from './scripts.ts';
import type { SessionName } from './session-name.ts';
import type { DutyFence, StoreContext } from './store-context.ts';
import type { TaskStore } from './task-store.ts';

/**
 * The questions and consents of all teams (WR-12, TM-15). Every change is one atomic step under Redis' own time and may
 * be repeated; each method throws `store_unavailable` when Redis does not answer in time. An answer approves nothing.
 */
export class QuestionStore {
  readonly #context: StoreContext;
  readonly #tasks: Pick<TaskStore, 'get'>;
  readonly #reader: QuestionReader;

  constructor(context: StoreContext, tasks: Pick<TaskStore, 'get'>) {
    this.#context = context;
    this.#tasks = tasks;
    this.#reader = new QuestionReader(context);
  }

  /**
   * Opens a question: record, entry in the lead's inbox, event and, where its session's task is planning, the phase
   * `awaiting_answer`, in one step. Asking again under the same ID answers the one that stands, and parks the task
   * again if it is open. It ends unanswered at its deadline: the session's, or an earlier one that it names.
   * @throws PlacetError `validation_failed`, `payload_too_large`, `request_conflict`, `epoch_stale`, `rate_limited`
   */
  ask(command: AskCommand): Promise<AskResult> {
    const { team, teammate } = command;
    const waitOf = async (sessionId: string) =>
      (await this.#tasks.get({ team, teammate, sessionId }))?.job.deadlineMs;
    return askQuestion(this.#context, this.#reader, waitOf, command);
  }

  /** The record; undefined when there is none. Ends it first if its deadline has passed. */
  async get(team: TeamName, requestId: RequestId): Promise<QuestionRecord | undefined> {
    const parts = await this.#reader.find(team, requestId);
    return parts && toQuestionRecord(parts);
  }

  /** As {@link get}; undefined also for another teammate's. */
  async getOwn(name: QuestionName): Promise<QuestionRecord | undefined> {
    const parts = await this.#reader.own(name);
    return parts && toQuestionRecord(parts);
  }

  /** Everything stored of questions, in the order of the IDs, for the inboxes. */
  find(team: TeamName, requestIds: readonly RequestId[]): Promise<(QuestionParts | undefined)[]> {
    return this.#reader.findAll(team, requestIds);
  }

  /** As {@link find}; one that cannot be read is left out and logged. */
  findReadable(team: TeamName, requestIds: readonly RequestId[]): Promise<(QuestionParts | undefined)[]> {
    return this.#reader.findReadable(team, requestIds);
  }

  /** A page of open ones, oldest first. @throws PlacetError `validation_failed` for a cursor that is none */
  list(team: TeamName, query: QuestionQuery): Promise<QuestionPage> {
    return listQuestions(this.#context, this.#reader, team, query);
  }

  /** The open questions of a session, oldest first. */
  openInSession(session: SessionName): Promise<OpenQuestion[]> {
    return openInSession(this.#context, this.#reader, session);
  }

  /**
   * Ends a question with an answer, puts that into its teammate's inbox and wakes its task, in one step. The same
   * answer again by the same principal is answered with what stands (`repeated`).
   * @throws PlacetError `not_found`, `validation_failed`, `already_decided`
   */
  answer(command: AnswerCommand): Promise<{ kind: 'answered' | 'repeated'; record: QuestionRecord }> {
    return answerQuestion(this.#context, this.#reader, command);
  }

  /**
   * Ends a question unanswered; one that has ended stays as it is, so look at how it ended.
   * @throws PlacetError `not_found`
   */
  takeBack(name: QuestionName): Promise<QuestionRecord> {
    return takeBackQuestion(this.#context, this.#reader, name);
  }

  /** How many questions of a team are open, for metrics; ends none. */
  openCount(team: TeamName): Promise<number> {
    return storeCall('counting questions', () => this.#context.redis.zcard(keyOf(team, 'openQuestions')));
  }

  /** Ends at most `limit` questions whose deadline has passed; answers how many. */
  expireDue(team: TeamName, limit: number, fence?: DutyFence): Promise<number> {
    return expireQuestions(this.#context, this.#reader, { team, limit, fence });
  }

  /** Deletes at most `limit` questions that ended longer ago than the retention, or are too many; answers how many. */
  purge(team: TeamName, limit: number, fence?: DutyFence): Promise<number> {
    return purgeQuestions(this.#context, this.#reader, { team, limit, fence });
  }
}
