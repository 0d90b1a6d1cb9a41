import type { Issue } from './errors.ts';
import type { Answer, Answers, Question } from './questions.ts';

/** How many faults are listed at most. */
const maxIssues = 20;
/** How much of a text that was sent is repeated in a fault. */
const maxQuotedChars = 60;

/**
 * What is wrong with answers to these questions; nothing, where the list is empty (PM-64). A key must be the full text
 * of a question and a label one of its options', to the code point: nothing is trimmed, folded or normalised, and what
 * is not known is a fault, never ignored. Not every question has to be answered, but one must be, and an answer must
 * say something. At most 20 faults.
 */
export function faultsOfAnswers(questions: readonly Question[], answers: Answers): Issue[] {
  const byText = new Map(questions.map((question) => [question.question, question]));
  const given = Object.entries(answers);
  if (given.length === 0) return [{ path: 'answers', message: 'answers none of the questions' }];
  const issues: Issue[] = [];
  for (const [text, answer] of given) {
    if (issues.length >= maxIssues) break;
    const question = byText.get(text);
    const path = `answers.${quoted(text)}`;
    if (question) issues.push(...faultsOfAnswer(question, answer, path));
    else issues.push({ path, message: 'is not the full text of a question that was asked' });
  }
  return issues.slice(0, maxIssues);
}

function faultsOfAnswer(question: Question, answer: Answer, path: string): Issue[] {
  const known = new Set(question.options.map(({ label }) => label));
  const { labels, text, notes } = answer;
  const issues: Issue[] = [];
  const fault = (message: string) => void issues.push({ path, message });
  for (const label of labels)
    if (!known.has(label)) fault(`${quoted(label)} is not the label of one of its options`);
  for (const label of Object.keys(notes ?? {}))
    if (!known.has(label)) fault(`has a note on ${quoted(label)}, which is not one of its options`);
  if (new Set(labels).size < labels.length) fault('names an option twice');
  if (!question.multiSelect && labels.length > 1) fault('names several options where one may be chosen');
  const said = [text, ...Object.values(notes ?? {})].some((words) => words?.trim());
  if (labels.length === 0 && !said) fault('says nothing: neither an option, nor a text, nor a note');
  return issues;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > maxQuotedChars ? `${text.slice(0, maxQuotedChars)}…` : text);
}
