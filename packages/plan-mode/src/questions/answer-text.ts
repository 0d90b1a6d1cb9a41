import type { Answer, Questions } from '@placet/protocol';
import type { Answered, QuestionsEnd } from './ask-end.ts';

/** What was asked and how it ended. */
export interface EndedQuestions {
  questions: Questions;
  end: QuestionsEnd;
  /** Whether the session is planning; the model is then reminded how a plan is approved. Default true. */
  inPlanMode?: boolean;
}

const approvesNoPlan = 'This approves no plan: a plan is approved by submitting it, and by nothing else.';

/**
 * The text that the model gets as the result of its questions (PM-64): another one for options, free text, both,
 * silence, choices of a person who then went away (PM-65), and a host that shut down (PM-66). What people chose and
 * wrote stands in it as they did, to the character.
 */
export function answerText({ questions, end, inPlanMode = true }: EndedQuestions): string {
  switch (end.kind) {
    case 'answered':
      return end.afkTimeoutMs === undefined
        ? blocks(headOf(end), listOf(questions, end), inPlanMode && approvesNoPlan)
        : awayText(questions, end, end.afkTimeoutMs);
    case 'unanswered':
      return blocks(
        'Nobody answered in the time there was. That is neither a yes nor a no. Go on with what can be decided without an answer, say which assumptions you made, and ask again if one of them matters.',
        inPlanMode && approvesNoPlan,
      );
    case 'parked':
      return 'The session shuts down before anybody answered. The questions stay open and can be answered once it is back. Nobody declined anything: end the turn here and assume no answer.';
    case 'interrupted':
      return end.cause === 'shutdown'
        ? 'The session shuts down, and the questions end with it unanswered. Nobody declined anything: end the turn here and assume no answer.'
        : 'The questions were taken back before anybody answered. Nobody declined anything: assume no answer.';
  }
}

function awayText(questions: Questions, end: Answered, afkTimeoutMs: number): string {
  return blocks(
    `The person may be away from the keyboard: for ${afkTimeoutMs / 1000} s there was no sign of them, and the questions went on without them.`,
    end.hadPartialAnswers
      ? `What they had chosen until then, without sending it:\n\n${listOf(questions, end)}`
      : 'They had chosen nothing.',
    'Use your best judgement for what is open, with all you know. Say which assumptions you made, and ask again later if one of them matters.',
    approvesNoPlan,
  );
}

function headOf({ answers }: Answered): string {
  const all = Object.values(answers);
  const chose = all.some(({ labels }) => labels.length > 0);
  const wrote = all.some(({ text }) => text !== undefined);
  if (chose && !wrote) return 'The person chose among your options:';
  if (wrote && !chose) return 'The person chose none of your options and answered in their own words:';
  return chose
    ? 'The person answered, in part by your options and in part in their own words:'
    : 'The person chose none of your options and left notes on them:';
}

function listOf(questions: Questions, { answers }: Answered): string {
  const byText = new Map(Object.entries(answers));
  return questions
    .map(({ question }, at) => `${at + 1}. ${question}\n${linesOf(byText.get(question)).join('\n')}`)
    .join('\n\n');
}

function linesOf(answer: Answer | undefined): string[] {
  if (!answer) return ['Not answered.'];
  return [
    ...answer.labels.map((label) => `Chosen: ${label}`),
    ...Object.entries(answer.notes ?? {}).map(([label, note]) => `Note on ${label}: ${note}`),
    ...(answer.text === undefined ? [] : [`In their own words: ${answer.text}`]),
  ];
}

function blocks(...parts: (string | false)[]): string {
  return parts.filter(Boolean).join('\n\n');
}
