import {
  type AnswerBody,
  digestOfText,
  faultsOfAnswers,
  PlacetError,
  type QuestionEnd,
  type QuestionRecord,
} from '@placet/protocol';
import { endedQuestionHistory } from './history.ts';
import { keyOf } from './keys.ts';
import {
  encodeEnd,
  isSameEnd,
  type QuestionName,
  type QuestionParts,
  questionKeys,
  toQuestionRecord,
} from './question-codec.ts';
import type { QuestionReader } from './question-reader.ts';
import { unknownReply } from './scripts.ts';
import { type DutyFence, fenceEpoch, fenceKey, runTeamScript, type StoreContext } from './store-context.ts';

/** What a lead answers, and who it is. */
export interface AnswerCommand {
  team: string;
  requestId: string;
  body: AnswerBody;
  /** The principal that answers. */
  by: string;
}

/** What came of ending a question. */
export type EndedQuestion = 'ended' | 'gone' | 'early' | 'late' | 'absent' | 'deposed';

const unanswered: QuestionEnd = { kind: 'unanswered' };

/** Answers a question. See `QuestionStore.answer`. */
export async function answerQuestion(
  context: StoreContext,
  reader: QuestionReader,
  { team, requestId, body, by }: AnswerCommand,
): Promise<{ kind: 'answered' | 'repeated'; record: QuestionRecord }> {
  const parts = await reader.find(team, requestId);
  if (!parts) throw noQuestion(requestId);
  const end = endOf(parts, body, by);
  if (parts.ending) return { kind: 'repeated', record: requireSame(parts, end) };
  checkAnswer(parts, body);
  const word = await endQuestion(context, parts, { how: 'answered', end });
  if (word === 'late') await expireQuestion(context, parts);
  const now = await reader.stored(parts);
  if (!now) throw noQuestion(requestId);
  return { kind: word === 'ended' ? 'answered' : 'repeated', record: requireSame(now, end) };
}

/** Ends a question unanswered because its teammate takes it back. See `QuestionStore.takeBack`. */
export async function takeBackQuestion(
  context: StoreContext,
  reader: QuestionReader,
  name: QuestionName,
): Promise<QuestionRecord> {
  const parts = await reader.own(name);
  if (!parts) throw noQuestion(name.requestId);
  if (parts.ending) return toQuestionRecord(parts);
  await endQuestion(context, parts, { how: 'taken_back', end: unanswered });
  const now = await reader.stored(name);
  if (!now) throw noQuestion(name.requestId);
  return toQuestionRecord(now);
}

/** Ends a question whose deadline has passed: unanswered, and never an approval (TM-15). */
export function expireQuestion(
  context: StoreContext,
  parts: QuestionParts,
  fence?: DutyFence,
): Promise<EndedQuestion> {
  return endQuestion(context, parts, { how: 'expired', end: unanswered, fence });
}

/** @throws PlacetError `not_found`, in the words that say the same of another teammate's question */
function noQuestion(requestId: string): PlacetError {
  return new PlacetError('not_found', `there is no question ${requestId} here`);
}

async function endQuestion(
  context: StoreContext,
  { question, ...name }: QuestionParts,
  {
    how,
    end,
    fence,
  }: { how: 'answered' | 'expired' | 'taken_back'; end: QuestionEnd; fence?: DutyFence | undefined },
): Promise<EndedQuestion> {
  const { team, teammate, requestId } = name;
  const { sessionId, type } = question.m;
  const text = encodeEnd(end);
  const { event, audit } = endedQuestionHistory(
    { teammate, sessionId, requestId },
    { kind: type === 'consent_request' ? 'consent' : 'questions', end, digest: digestOfText(text) },
  );
  const keys = [...questionKeys(name, sessionId), keyOf(team, 'inbox', teammate), fenceKey(team, fence)];
  const who = [requestId, teammate, sessionId];
  const args = [...who, how, text, event, audit, context.reconcileAfterMs, fenceEpoch(fence)];
  const reply = await runTeamScript(context, team, 'end-question', keys, args);
  switch (reply.word) {
    case 'ended':
    case 'gone':
    case 'early':
    case 'late':
    case 'absent':
    case 'deposed':
      return reply.word;
    default:
      return unknownReply('end-question', reply);
  }
}

/** @throws PlacetError `validation_failed` where a question is answered like a consent, or the reverse */
function endOf({ question }: QuestionParts, body: AnswerBody, by: string): QuestionEnd {
  const isConsent = question.m.type === 'consent_request';
  if ('consent' in body) {
    if (isConsent) return { kind: 'consent', consent: body.consent, answeredBy: by };
    throw invalid([{ path: 'consent', message: 'is not asked for here; send answers' }]);
  }
  if (!isConsent) return { kind: 'answered', answers: body.answers, answeredBy: by };
  throw invalid([{ path: 'answers', message: 'are not asked for here; send consent' }]);
}

/** @throws PlacetError `validation_failed` with the path of each key and label that is none of the questions' (PM-64) */
function checkAnswer({ question }: QuestionParts, body: AnswerBody): void {
  if (question.m.type !== 'question_request' || !('answers' in body)) return;
  const faults = faultsOfAnswers(question.m.questions, body.answers);
  if (faults.length > 0) throw invalid(faults);
}

/** @throws PlacetError `already_decided` where the question ended otherwise */
function requireSame(parts: QuestionParts, end: QuestionEnd): QuestionRecord {
  const record = toQuestionRecord(parts);
  if (record.end && isSameEnd(record.end, end)) return record;
  const state = record.end?.kind === 'unanswered' ? 'unanswered' : 'answered';
  throw new PlacetError('already_decided', `question ${record.requestId} is ${state} already`, {
    current: { requestId: record.requestId, state, endedAt: record.endedAt, end: record.end },
  });
}

function invalid(issues: { path: string; message: string }[]): PlacetError {
  const [first] = issues;
  return new PlacetError('validation_failed', `the answer is not valid: ${first?.path} ${first?.message}`, {
    issues,
  });
}
