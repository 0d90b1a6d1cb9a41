import {
  Answers,
  findUnsafeJson,
  issuesOf,
  openQuestionLimits,
  PlacetError,
  parseOrThrow,
  QuestionEnd,
  Questions,
  questionLimits,
  RequestId,
  SessionId,
  Timestamp,
} from '@placet/protocol';
import { z } from 'zod';

/** What is asked: questions, or whether the session may plan first. */
export const Ask = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('questions'), questions: Questions }),
  z.strictObject({ kind: z.literal('consent'), reason: z.string().max(questionLimits.textChars).optional() }),
]);
export type Ask = z.infer<typeof Ask>;

/** A question or consent as it outlives its host. */
export const KeptQuestion = z
  .strictObject({
    requestId: RequestId,
    askedAt: Timestamp,
    /** When it ends unanswered. */
    deadline: Timestamp,
    inPlanMode: z.boolean(),
    ask: Ask,
    /** What was chosen so far and not sent. */
    chosen: Answers.optional(),
    /** How it ended, where nobody has taken note of that yet. */
    end: QuestionEnd.optional(),
  })
  .refine(({ ask, end }) => isEndOf(ask, end), 'ended in another way than it was asked');
export type KeptQuestion = z.infer<typeof KeptQuestion>;

/** The open questions of a session as plain JSON (PM-66). Holds what people wrote: keep it as private as the session. */
export const QuestionsSnapshot = z.strictObject({
  version: z.literal(1),
  sessionId: SessionId,
  questions: z
    .array(KeptQuestion)
    .max(openQuestionLimits.session)
    .refine((all) => new Set(all.map(({ requestId }) => requestId)).size === all.length, 'has an ID twice'),
});
export type QuestionsSnapshot = z.infer<typeof QuestionsSnapshot>;

/** @throws PlacetError `validation_failed` for what is no snapshot, or one of another session. */
export function readSnapshot(sessionId: SessionId, snapshot: unknown): QuestionsSnapshot {
  const read = parseOrThrow(QuestionsSnapshot, snapshot, `the questions of session ${sessionId}`);
  if (read.sessionId !== sessionId)
    throw new PlacetError(
      'validation_failed',
      `the questions are of session ${read.sessionId}, not ${sessionId}`,
    );
  return read;
}

/** Why a question could not be kept and read back, if it could not. */
export function faultOfKept(kept: KeptQuestion): string | undefined {
  const parsed = KeptQuestion.safeParse(kept);
  const [fault] = parsed.success ? findUnsafeJson(kept) : issuesOf(parsed.error);
  return fault && `${fault.path} ${fault.message}`;
}

function isEndOf(ask: Ask, end: QuestionEnd | undefined): boolean {
  if (end?.kind === 'answered') return ask.kind === 'questions';
  return end?.kind !== 'consent' || ask.kind === 'consent';
}
