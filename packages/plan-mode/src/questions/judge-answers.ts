import {
  Answers,
  faultsOfAnswers,
  findUnsafeJson,
  type Issue,
  issuesOf,
  type Questions,
} from '@placet/protocol';
import { z } from 'zod';
import type { Refused } from '../posture/refused.ts';

/** What becomes of answers that somebody sent. */
export type AnswersVerdict = { kind: 'taken'; answers: Answers } | (Refused & { issues: Issue[] });

/**
 * Judges answers against what was asked (PM-64): shape, keys that reach a prototype, and whether each key and label is
 * known. All of them are taken or none. Takes anything, also what was parsed from JSON a moment ago.
 */
export function judgeAnswers(questions: Questions, sent: unknown): AnswersVerdict {
  // Before the schema, which would drop a key like `__proto__` without a word.
  const unsafe = findUnsafeJson(sent);
  if (unsafe.length > 0) return refuseAnswers(unsafe);
  const parsed = Answers.safeParse(sent);
  if (!parsed.success) return refuseAnswers(issuesOf(parsed.error));
  const issues = faultsOfAnswers(questions, parsed.data);
  return issues.length > 0 ? refuseAnswers(issues) : { kind: 'taken', answers: parsed.data };
}

/** As {@link judgeAnswers}, for what is chosen so far and not sent (PM-65): it may be nothing. */
export function judgeChosen(questions: Questions, chosen: unknown): AnswersVerdict {
  const nothing = z.strictObject({}).safeParse(chosen);
  return nothing.success ? { kind: 'taken', answers: {} } : judgeAnswers(questions, chosen);
}

function refuseAnswers(issues: Issue[]): AnswersVerdict {
  const [first] = issues;
  const why = first ? `: ${first.path} ${first.message}` : '';
  return { kind: 'refused', code: 'validation_failed', detail: `the answers are not taken${why}`, issues };
}
