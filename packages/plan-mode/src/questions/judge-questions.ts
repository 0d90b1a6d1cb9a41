import {
  findUnsafeJson,
  issuesOf,
  type Question,
  type QuestionOption,
  Questions,
  questionLimits,
} from '@placet/protocol';
import type { Refused } from '../posture/refused.ts';
import { asksForApproval } from './asks-for-approval.ts';
import { faultsOfPreview } from './preview-fragment.ts';

/** Why questions are not asked. `shape`: they do not have the form of questions, or a limit is exceeded. */
export type QuestionFaultReason =
  | 'shape'
  | 'too_few_options'
  | 'asks_for_approval'
  | 'not_unique'
  | 'other_option'
  | 'unusable_text'
  | 'preview';

/** One thing that is wrong with questions. */
export interface QuestionFault {
  reason: QuestionFaultReason;
  /** A sentence for the model: where it is, what is wrong, what to do instead. */
  message: string;
}

/** Questions that nobody is shown. */
export interface RefusedQuestions extends Refused {
  /** What the tool gives the model: that the person saw nothing, and how to go on. */
  textForModel: string;
  faults: QuestionFault[];
}

/** What becomes of a call that asks. */
export type QuestionsVerdict = { kind: 'ask'; questions: Questions } | RefusedQuestions;

/** Faults beyond these are not listed. */
const maxFaults = 10;

/**
 * Judges the input of `AskUserQuestion` before anybody is shown it (PM-60 to PM-63). Taken questions hold the known
 * fields and nothing else: neither answers nor defaults that a model may have put in reach the person or the result.
 * Texts are compared to the code point, so that each is a key of its own for its answer (PM-64).
 */
export function judgeQuestions(input: unknown): QuestionsVerdict {
  const unsafe = findUnsafeJson(input);
  if (unsafe.length > 0)
    return refuseQuestions(
      unsafe.map(({ path, message }) => ({ reason: 'shape', message: `${path} ${message}.` })),
    );
  const asked = fieldOf(input, 'questions');
  const tooFew = questionsWithTooFewOptions(asked);
  if (tooFew.length > 0) return refuseQuestions(tooFew);
  const parsed = Questions.safeParse(asked);
  if (!parsed.success) {
    const issues = issuesOf(parsed.error);
    return refuseQuestions(
      issues.map(({ path, message }) => ({ reason: 'shape', message: `questions.${path}: ${message}.` })),
    );
  }
  const questions = parsed.data.map(knownFieldsOf);
  const faults = [...faultsOfTexts(questions), ...questions.flatMap(faultsOfQuestion)];
  return faults.length > 0 ? refuseQuestions(faults) : { kind: 'ask', questions };
}

/** Looks before the schema does, for this fault has an advice of its own (PM-62). */
function questionsWithTooFewOptions(asked: unknown): QuestionFault[] {
  if (!Array.isArray(asked) || asked.length > questionLimits.questions.max) return [];
  return asked.flatMap((question: unknown, at): QuestionFault[] => {
    if (typeof question !== 'object' || question === null) return [];
    const options = fieldOf(question, 'options') ?? [];
    if (!Array.isArray(options) || options.length >= questionLimits.options.min) return [];
    const others = asked.length > 1 ? ' You can ask the other questions again without it.' : '';
    return [
      {
        reason: 'too_few_options',
        message: `Question ${at + 1} has fewer than two options, so there is nothing to choose. Do not invent a second option: say in a sentence which way you will go, and go on.${others}`,
      },
    ];
  });
}

function faultsOfTexts(questions: Questions): QuestionFault[] {
  const seen = new Set(questions.map(({ question }) => question));
  return seen.size === questions.length
    ? []
    : [
        {
          reason: 'not_unique',
          message: 'Two questions have the same text. Answers are told apart by it: write each differently.',
        },
      ];
}

function faultsOfQuestion(question: Question, at: number): QuestionFault[] {
  const { header, options } = question;
  const where = `Question ${at + 1}`;
  const labels = options.map(({ label }) => label);
  const faults: QuestionFault[] = [];
  const fault = (reason: QuestionFaultReason, message: string) => void faults.push({ reason, message });
  if (asksForApproval(question))
    fault(
      'asks_for_approval',
      `${where} asks for approval of the plan, or to begin. An answer approves nothing. Submit the plan with the tool for that (plan_submit or ExitPlanMode): that is how approval is asked for. Ask questions for decisions that the plan still needs.`,
    );
  for (const text of [question.question, header, ...labels]) {
    const unusable = whyUnusable(text);
    if (unusable) fault('unusable_text', `${where}: ${JSON.stringify(text)} ${unusable}.`);
  }
  if (new Set(labels).size < labels.length)
    fault('not_unique', `${where} has the same label twice. An answer names its option by the label.`);
  if (labels.some(isOther))
    fault('other_option', `${where} has an option "Other". It is always offered; leave it out.`);
  for (const { label, preview } of options)
    for (const found of faultsOfPreview(preview ?? ''))
      fault(
        'preview',
        `${where}, preview of ${JSON.stringify(label)}: ${found}. A preview is plain text or a fragment of HTML that only shows something; where markup is meant to be read, write &lt; for <.`,
      );
  return faults;
}

// Bodies with such keys are refused everywhere (WR-31), and answers have question texts and labels as keys.
const keysOfPrototypes = new Set(['__proto__', 'constructor', 'prototype']);
const blank = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

function whyUnusable(text: string): string | undefined {
  if (blank.test(text)) return 'cannot be seen';
  if (keysOfPrototypes.has(text)) return 'cannot be used as a text; write it in other words';
  return undefined;
}

function isOther(label: string): boolean {
  const words = label
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s\(.*\)$/, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return /^(?:others?|something else|other please specify)$/.test(words);
}

function knownFieldsOf({ question, header, options, multiSelect }: Question): Question {
  return { question, header, options: options.map(knownFieldsOfOption), multiSelect };
}

function knownFieldsOfOption({ label, description, preview }: QuestionOption): QuestionOption {
  return {
    label,
    ...(description !== undefined && { description }),
    ...(preview !== undefined && { preview }),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

function refuseQuestions(all: QuestionFault[]): RefusedQuestions {
  const faults = all.slice(0, maxFaults);
  const reasons = [...new Set(faults.map(({ reason }) => reason))];
  const more = all.length > faults.length ? `- and ${all.length - faults.length} more faults` : undefined;
  return {
    kind: 'refused',
    code: 'validation_failed',
    detail: `the questions are not asked: ${reasons.join(', ')}`,
    textForModel: [
      'Nobody was shown these questions, so there is no answer and nothing was decided.',
      ...faults.map(({ message }) => `- ${message}`),
      more,
    ]
      .filter(Boolean)
      .join('\n'),
    faults,
  };
}
