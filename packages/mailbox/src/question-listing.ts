import type { OpenQuestion, QuestionPage } from '@placet/protocol';
import { keyOf } from './keys.ts';
import { readCursor } from './page-cursor.ts';
import { toOpenQuestion } from './question-codec.ts';
import type { QuestionReader } from './question-reader.ts';
import { scoredMembers } from './scored-members.ts';
import { execAll, storeCall } from './scripts.ts';
import type { StoreContext } from './store-context.ts';

/** What to list (WR-33). */
export interface QuestionQuery {
  /** Where to go on, as a former page said. */
  cursor?: string | undefined;
  limit: number;
}

/** How many are read at once: each may be long. */
const chunkSize = 16;
/** A page ends, however many were asked for, when its questions have this many characters of JSON. */
const maxPageChars = 4 * 1024 * 1024;

/** A page of open questions, oldest first: by inbox number, which never changes (WR-33). See `QuestionStore.list`. */
export async function listQuestions(
  context: StoreContext,
  reader: QuestionReader,
  team: string,
  { cursor, limit }: QuestionQuery,
): Promise<QuestionPage> {
  const questions: OpenQuestion[] = [];
  let after = Number(readCursor(cursor, 'questions') ?? 0);
  let chars = 0;
  while (questions.length < limit && chars < maxPageChars) {
    const size = Math.min(limit - questions.length, chunkSize);
    const listed = await openAfter(context, team, after, size);
    for (const parts of await reader.findReadable(
      team,
      listed.map(({ requestId }) => requestId),
    )) {
      // One that ended meanwhile leaves its place to what follows.
      if (!parts || parts.ending) continue;
      const question = toOpenQuestion(parts);
      questions.push(question);
      chars += JSON.stringify(question).length;
    }
    if (listed.length < size) return { questions };
    after = listed.at(-1)?.number ?? after;
  }
  const [next] = await openAfter(context, team, after, 1);
  return { questions, ...(next && { nextCursor: String(after) }) };
}

/** The open questions of a session, oldest first. */
export async function openInSession(
  context: StoreContext,
  reader: QuestionReader,
  { team, teammate, sessionId }: { team: string; teammate: string; sessionId: string },
): Promise<OpenQuestion[]> {
  const requestIds = await storeCall('reading the questions of a session', () =>
    context.redis.zrangebyscore(keyOf(team, 'sessionQuestions', teammate, sessionId), '(0', '+inf'),
  );
  const found = await reader.findReadable(team, requestIds);
  return found.flatMap((parts) => (parts && !parts.ending ? [toOpenQuestion(parts)] : []));
}

interface Listed {
  requestId: string;
  /** Its inbox number. */
  number: number;
}

async function openAfter(
  context: StoreContext,
  team: string,
  after: number,
  size: number,
): Promise<Listed[]> {
  const batch = context.redis
    .pipeline()
    .zrangebyscore(keyOf(team, 'openQuestions'), `(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, size);
  const [reply] = await execAll('listing questions', batch);
  return scoredMembers(reply).map(({ member, score }) => ({ requestId: member, number: score }));
}
