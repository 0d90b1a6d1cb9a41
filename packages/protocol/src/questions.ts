import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Principal, RequestId, SessionId, TeammateName } from './ids.ts';

/** Bounds of one call that asks (PM-60). */
export const questionLimits = {
  questions: { min: 1, max: 4 },
  options: { min: 2, max: 4 },
  headerChars: 12,
  questionChars: 2000,
  labelChars: 200,
  descriptionChars: 2000,
  /** Of a preview, and of one free-text answer or note. */
  textChars: 20_000,
} as const;

/** One answer that can be chosen. */
export const QuestionOption = z.looseObject({
  label: z.string().min(1).max(questionLimits.labelChars),
  description: z.string().max(questionLimits.descriptionChars).optional(),
  /** Plain text, or an HTML fragment (PM-61); a surface that shows it cleans it once more. */
  preview: z.string().max(questionLimits.textChars).optional(),
});
export type QuestionOption = z.infer<typeof QuestionOption>;

/** One question as its asker put it; surfaces add "Other" themselves. */
export const Question = z.looseObject({
  question: z.string().min(1).max(questionLimits.questionChars),
  header: z.string().min(1).max(questionLimits.headerChars),
  options: z.array(QuestionOption).min(questionLimits.options.min).max(questionLimits.options.max),
  multiSelect: z.boolean().default(false),
});
export type Question = z.infer<typeof Question>;

/** The questions of one call, in shape only: what they may say is judged by package `plan-mode` before they are sent. */
export const Questions = z
  .array(Question)
  .min(questionLimits.questions.min)
  .max(questionLimits.questions.max);
export type Questions = z.infer<typeof Questions>;

/** What was answered to one question: labels of its options, a text of one's own, or both; and notes on options. */
export const Answer = z.strictObject({
  labels: z.array(z.string().max(questionLimits.labelChars)).max(questionLimits.options.max).default([]),
  text: z.string().min(1).max(questionLimits.textChars).optional(),
  /** By label. */
  notes: z.record(z.string(), z.string().max(questionLimits.textChars)).optional(),
});
export type Answer = z.infer<typeof Answer>;

/** Answers by the full text of their question (PM-64). */
export const Answers = z.record(z.string(), Answer);
export type Answers = z.infer<typeof Answers>;

/** What can be said to a session that would like to plan first (PM-12); nothing said is `cancelled`. */
export const ConsentAnswer = z.enum(['accepted', 'declined', 'cancelled']);
export type ConsentAnswer = z.infer<typeof ConsentAnswer>;

/** How an open question or consent ended. `unanswered`: its time ran out, or it was taken back (TM-15). */
export const QuestionEnd = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('answered'),
    answers: Answers,
    answeredBy: Principal.optional(),
    /** Set where the person was away and what had been chosen so far was sent (PM-65). */
    afkTimeoutMs: z.number().int().positive().optional(),
    hadPartialAnswers: z.boolean().optional(),
  }),
  z.strictObject({
    kind: z.literal('consent'),
    consent: ConsentAnswer,
    answeredBy: Principal.optional(),
  }),
  z.strictObject({ kind: z.literal('unanswered') }),
]);
export type QuestionEnd = z.infer<typeof QuestionEnd>;

/** Asks the lead, and blocks its session until it ends (PM-64, WR-12). `requestId` is stable over restarts (PM-66). */
export const QuestionRequest = z.looseObject({
  type: z.literal('question_request'),
  requestId: RequestId,
  sessionId: SessionId,
  questions: Questions,
  /** Whether the session was planning when it asked. */
  inPlanMode: z.boolean().optional(),
  /** When it ends unanswered. */
  deadline: Timestamp.optional(),
});
export type QuestionRequest = z.infer<typeof QuestionRequest>;

/** Asks whether a session may enter plan mode (PM-12, WR-12). */
export const ConsentRequest = z.looseObject({
  type: z.literal('consent_request'),
  requestId: RequestId,
  sessionId: SessionId,
  /** Why the model would like to plan first, for people. */
  reason: z.string().max(questionLimits.textChars).optional(),
  deadline: Timestamp.optional(),
});
export type ConsentRequest = z.infer<typeof ConsentRequest>;

/** What became of a question (WR-12). */
export const QuestionResponse = z.looseObject({
  type: z.literal('question_response'),
  requestId: RequestId,
  sessionId: SessionId,
  timestamp: Timestamp,
  end: QuestionEnd,
});
export type QuestionResponse = z.infer<typeof QuestionResponse>;

/** What became of a consent (WR-12). */
export const ConsentResponse = QuestionResponse.extend({ type: z.literal('consent_response') });
export type ConsentResponse = z.infer<typeof ConsentResponse>;

/** An open question or consent, as the lead reads it. */
export const OpenQuestion = z.looseObject({
  requestId: RequestId,
  team: z.string(),
  teammate: TeammateName,
  sessionId: SessionId,
  askedAt: Timestamp,
  deadline: Timestamp.optional(),
  inPlanMode: z.boolean(),
  /** What is asked: questions, or a consent with its reason. */
  ask: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('questions'), questions: Questions }),
    z.looseObject({ kind: z.literal('consent'), reason: z.string().optional() }),
  ]),
});
export type OpenQuestion = z.infer<typeof OpenQuestion>;

/** What a lead sends to answer: answers, for a question; `consent`, for a consent. */
export const AnswerBody = z.union([
  z.strictObject({ answers: Answers }),
  z.strictObject({ consent: ConsentAnswer }),
]);
export type AnswerBody = z.infer<typeof AnswerBody>;
