import {
  AskingMessage,
  type Digest,
  digestOfList,
  type JsonValue,
  type OpenQuestion,
  PlacetError,
  QuestionEnd,
  type QuestionRecord,
  recordVersion,
  toTimestamp,
} from '@placet/protocol';
import { z } from 'zod';
import { keyOf } from './keys.ts';
import { packDigest } from './packed-names.ts';

/** Names a question of a teammate. */
export interface QuestionName {
  team: string;
  teammate: string;
  requestId: string;
}

const atMs = z.number().int();

/**
 * A question as Redis holds it; it never changes. `v` and `h` come first, `n`, `at` and `dl` last: scripts find them
 * there.
 */
const StoredQuestion = z.object({
  v: z.number().int(),
  /** Digest of what is asked: the same ID with another is a conflict. */
  h: z.string(),
  /** The message as it was sent, but for its deadline, which is `dl`. */
  m: AskingMessage,
  /** Inbox number, and when it was asked and ends unanswered, in milliseconds since the epoch. */
  n: z.number().int(),
  at: atMs,
  dl: atMs,
});
type StoredQuestion = z.infer<typeof StoredQuestion>;

const Versioned = z.object({ v: z.number() });
const StoredEnd = z.object({ v: z.number().int(), e: QuestionEnd, at: atMs });
type StoredEnd = z.infer<typeof StoredEnd>;

/** Everything stored of a question. */
export interface QuestionParts extends QuestionName {
  question: StoredQuestion;
  ending: StoredEnd | undefined;
}

/** A question as the script that opens it takes it: its record without what the script adds, and its digest. */
export function encodeQuestion(asking: AskingMessage): { text: string; digest: string } {
  const { deadline: _, ...kept } = asking;
  const digest = packDigest(askedDigest(asking));
  return { text: JSON.stringify({ v: recordVersion, h: digest, m: kept }), digest };
}

/** How a question ended, as the script that ends it takes it. */
export function encodeEnd(end: QuestionEnd): string {
  return JSON.stringify({ v: recordVersion, e: end });
}

/** @throws PlacetError `too_new`; `internal` where it is no question of ours */
export function parseQuestion(name: QuestionName, text: string, ending: unknown): QuestionParts {
  const question = parse(name, StoredQuestion, text);
  return {
    ...name,
    question,
    ending: typeof ending === 'string' ? parse(name, StoredEnd, ending) : undefined,
  };
}

/** The record as every reader gets it. */
export function toQuestionRecord({ question, ending, ...name }: QuestionParts): QuestionRecord {
  return {
    ...toOpenQuestion({ ...name, question }),
    deadline: toTimestamp(question.dl),
    ...(ending && { end: ending.e, endedAt: toTimestamp(ending.at) }),
  };
}

/** What the lead reads of a question that is open. */
export function toOpenQuestion({
  team,
  teammate,
  requestId,
  question: { m, at, dl },
}: Omit<QuestionParts, 'ending'>): OpenQuestion {
  return {
    requestId,
    team,
    teammate,
    sessionId: m.sessionId,
    askedAt: toTimestamp(at),
    deadline: toTimestamp(dl),
    inPlanMode: m.type === 'question_request' && m.inPlanMode === true,
    ask:
      m.type === 'question_request'
        ? { kind: 'questions', questions: m.questions }
        : { kind: 'consent', ...(m.reason !== undefined && { reason: m.reason }) },
  };
}

/** The message that asks the lead, whole: also with fields that this release does not know. */
export function toAskingMessage({ question: { m, dl } }: QuestionParts): AskingMessage {
  return { ...m, deadline: toTimestamp(dl) };
}

/** The keys 10 to 18 of the scripts that open and end questions, as `lua/parts/question.lua` names them. */
export function questionKeys({ team, teammate, requestId }: QuestionName, sessionId: string): string[] {
  return [
    keyOf(team, 'question', teammate, requestId),
    keyOf(team, 'questionEnd', teammate, requestId),
    keyOf(team, 'questionAsker', requestId),
    keyOf(team, 'session', teammate, sessionId),
    keyOf(team, 'openQuestions'),
    keyOf(team, 'questionDeadlines'),
    keyOf(team, 'endedQuestions'),
    keyOf(team, 'sessionQuestions', teammate, sessionId),
    keyOf(team, 'teammateQuestions', teammate),
  ];
}

/** Whether two ends say the same, in whatever order their fields stand. */
export function isSameEnd(one: QuestionEnd, other: QuestionEnd): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Type, session and what is asked; whether the session plans by now and until when it waits are no part of it. */
function askedDigest(asking: AskingMessage): Digest {
  const { type, sessionId } = asking;
  const asked = type === 'question_request' ? asking.questions : (asking.reason ?? null);
  return digestOfList([type, sessionId, sorted(asked)]);
}

/** A JSON value with the fields of its objects in the order of their names. */
function sorted(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    // A list of pairs, and not an object: its engine would put fields that look like numbers first.
    return entries.map(([field, inner]) => [field, sorted(inner)]);
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function parse<Output>({ requestId }: QuestionName, schema: z.ZodType<Output>, text: string): Output {
  const value = jsonOf(text);
  if ((Versioned.safeParse(value).data?.v ?? 0) > recordVersion) {
    throw new PlacetError(
      'too_new',
      `question ${requestId} was written by a newer Placet; upgrade this process`,
    );
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new PlacetError('internal', `question ${requestId} cannot be read in the store`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema says that it is none
  }
}
