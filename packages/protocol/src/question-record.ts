import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { OpenQuestion, QuestionEnd } from './questions.ts';

/**
 * A question or consent with what became of it (WR-12). It is open while there is no `end`. Nothing here is signed,
 * for it approves nothing: no code may take an answer, of whatever words, for the approval of a plan.
 */
export const QuestionRecord = OpenQuestion.extend({
  deadline: Timestamp,
  end: QuestionEnd.optional(),
  endedAt: Timestamp.optional(),
});
export type QuestionRecord = z.infer<typeof QuestionRecord>;

/** A page of open questions, oldest first (WR-33); it may be shorter than was asked for and have a successor. */
export const QuestionPage = z.looseObject({
  questions: z.array(OpenQuestion),
  /** Where the next page starts; absent on the last one. */
  nextCursor: z.string().optional(),
});
export type QuestionPage = z.infer<typeof QuestionPage>;

/** How many questions of one session, and of one teammate, may be open at once. */
export const openQuestionLimits = { session: 64, teammate: 1000 } as const;
