import { ConsentAnswer, type Principal, type QuestionEnd } from '@placet/protocol';
import { z } from 'zod';
import { type Refused, refuse } from '../posture/refused.ts';
import { judgeAnswers } from './judge-answers.ts';
import type { Ask } from './questions-snapshot.ts';

/** What becomes of an answer to a question or consent. */
export type EndVerdict = { kind: 'taken'; end: QuestionEnd } | Refused;

const AnswersSent = z.strictObject({ answers: z.unknown() });
const ConsentSent = z.strictObject({ consent: ConsentAnswer });

/** Judges a body of the form of protocol's `AnswerBody` against what was asked; nobody can send that they are away. */
export function judgeEnd(ask: Ask, body: unknown, answeredBy: Principal | undefined): EndVerdict {
  const by = answeredBy === undefined ? {} : { answeredBy };
  if (ask.kind === 'consent') {
    const sent = ConsentSent.safeParse(body);
    if (!sent.success)
      return refuse(
        'validation_failed',
        'a consent is answered with `consent`: accepted, declined or cancelled',
      );
    return { kind: 'taken', end: { kind: 'consent', consent: sent.data.consent, ...by } };
  }
  const sent = AnswersSent.safeParse(body);
  if (!sent.success)
    return refuse('validation_failed', 'questions are answered with `answers`, and nothing else');
  const verdict = judgeAnswers(ask.questions, sent.data.answers);
  return verdict.kind === 'refused'
    ? verdict
    : { kind: 'taken', end: { kind: 'answered', answers: verdict.answers, ...by } };
}
