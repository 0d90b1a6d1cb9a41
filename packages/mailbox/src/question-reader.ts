import { isPlacetError } from '@placet/protocol';
import { keyOf } from './keys.ts';
import { parseQuestion, type QuestionName, type QuestionParts } from './question-codec.ts';
import { expireQuestion } from './question-ending.ts';
import { execAll, storeCall } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { storeTimeMs } from './store-time.ts';

/** Reads questions. One whose deadline has passed is ended first: nobody ever sees it open (TM-15). */
export class QuestionReader {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** By its ID alone; undefined when there is none. */
  async find(team: string, requestId: string): Promise<QuestionParts | undefined> {
    const [found] = await this.findAll(team, [requestId]);
    return found;
  }

  /** As {@link find}, for several, in their order. */
  findAll(team: string, requestIds: readonly string[]): Promise<(QuestionParts | undefined)[]> {
    return this.#find(team, requestIds, (names) => this.#fresh(team, names));
  }

  /** As {@link findAll}; one that cannot be read hides no other: it is left out and logged. */
  findReadable(team: string, requestIds: readonly string[]): Promise<(QuestionParts | undefined)[]> {
    return this.#find(team, requestIds, async (names) => {
      try {
        return await this.#fresh(team, names);
      } catch (error) {
        if (!isPlacetError(error, 'internal', 'too_new')) throw error;
      }
      const found: QuestionParts[] = [];
      for (const name of names) found.push(...(await this.#ifReadable(name)));
      return found;
    });
  }

  async #ifReadable(name: QuestionName): Promise<QuestionParts[]> {
    try {
      return await this.#fresh(name.team, [name]);
    } catch (err) {
      if (!isPlacetError(err, 'internal', 'too_new')) throw err;
      const { team, requestId } = name;
      this.#context.log.error({ team, requestId, err }, 'a question cannot be read and is not listed');
      return [];
    }
  }

  async #find(
    team: string,
    requestIds: readonly string[],
    read: (names: readonly QuestionName[]) => Promise<QuestionParts[]>,
  ): Promise<(QuestionParts | undefined)[]> {
    if (requestIds.length === 0) return [];
    const keys = requestIds.map((requestId) => keyOf(team, 'questionAsker', requestId));
    const teammates = await storeCall('reading who asked', () => this.#context.redis.mget(keys));
    const names = requestIds.flatMap((requestId, place) => {
      const teammate = teammates[place];
      return teammate ? [{ team, teammate, requestId }] : [];
    });
    const found = new Map((await read(names)).map((parts) => [parts.requestId, parts]));
    return requestIds.map((requestId) => found.get(requestId));
  }

  /** A teammate's own; undefined for another's: its key is another. */
  async own(name: QuestionName): Promise<QuestionParts | undefined> {
    const [parts] = await this.#fresh(name.team, [name]);
    return parts;
  }

  /** As it is stored, whatever the time. */
  async stored(name: QuestionName): Promise<QuestionParts | undefined> {
    return (await this.#snapshot(name.team, [name])).found[0];
  }

  async #fresh(team: string, names: readonly QuestionName[]): Promise<QuestionParts[]> {
    if (names.length === 0) return [];
    const { nowMs, found } = await this.#snapshot(team, names);
    const settled = await Promise.all(
      found.map(async (parts) => {
        if (parts.ending || parts.question.dl > nowMs) return parts;
        await expireQuestion(this.#context, parts);
        return this.stored(parts);
      }),
    );
    return settled.filter((parts) => parts !== undefined);
  }

  async #snapshot(
    team: string,
    names: readonly QuestionName[],
  ): Promise<{ nowMs: number; found: QuestionParts[] }> {
    const transaction = this.#context.redis.multi().time();
    for (const { teammate, requestId } of names) {
      transaction
        .get(keyOf(team, 'question', teammate, requestId))
        .get(keyOf(team, 'questionEnd', teammate, requestId));
    }
    const [time, ...values] = await execAll('reading questions', transaction);
    const found = names.flatMap((name, place) => {
      const [text, ending] = values.slice(2 * place, 2 * place + 2);
      return typeof text === 'string' ? [parseQuestion(name, text, ending)] : [];
    });
    return { nowMs: storeTimeMs(time), found };
  }
}
