import {
  type AskingMessage,
  AskingMessage as AskingSchema,
  deadlineBoundsMs,
  defaultDeadlineMs,
  findUnsafeJson,
  fromTimestamp,
  openQuestionLimits,
  PlacetError,
  parseOrThrow,
  type QuestionRecord,
} from '@placet/protocol';
import { askedHistory } from './history.ts';
import { invalidField } from './invalid-field.ts';
import { requireOwnId } from './own-id.ts';
import { encodeQuestion, type QuestionName, questionKeys, toQuestionRecord } from './question-codec.ts';
import type { QuestionReader } from './question-reader.ts';
import { unknownReply } from './scripts.ts';
import { memberOf } from './session-name.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

/** A question with what the caller established about its sender. */
export interface AskCommand {
  team: string;
  teammate: string;
  asking: AskingMessage;
  /** How long it waits where the session's task does not say, in milliseconds; 24 h unless set. */
  deadlineMs?: number | undefined;
  /** The epoch of the lease that the sender holds; with it, a sender that lost its session is refused. */
  epoch?: number | undefined;
}

/** What came of asking. */
export interface AskResult {
  /** `replayed`: it was asked before; the record may say how it ended. */
  kind: 'asked' | 'replayed';
  record: QuestionRecord;
  /** The id of its entry in the lead's inbox, where it is while it is open. */
  entryId: string;
}

/** The longest question, in bytes of its JSON. */
const maxQuestionBytes = 512 * 1024;

/** Opens a question, or answers the one that stands. See `QuestionStore.ask`. */
export async function askQuestion(
  context: StoreContext,
  reader: QuestionReader,
  waitOf: (sessionId: string) => Promise<number | undefined>,
  command: AskCommand,
): Promise<AskResult> {
  const { team, teammate, epoch } = command;
  const asking = checkAsking(command);
  const { requestId, sessionId, deadline } = asking;
  const name = { team, teammate, requestId };
  const { text, digest } = encodeQuestion(asking);
  if (Buffer.byteLength(text) > maxQuestionBytes)
    throw new PlacetError('payload_too_large', `a question holds at most ${maxQuestionBytes} bytes of JSON`);
  await context.registerTeam(team);
  const waitMs = (await waitOf(sessionId)) ?? command.deadlineMs ?? defaultDeadlineMs;
  const kind = asking.type === 'consent_request' ? 'consent' : 'questions';
  const { event, audit } = askedHistory({ teammate, sessionId, requestId }, kind);
  const what = [requestId, memberOf({ teammate, sessionId }), teammate, text, digest];
  const when = [deadline === undefined ? '' : fromTimestamp(deadline), waitMs, deadlineBoundsMs.min];
  const limits = [openQuestionLimits.session, openQuestionLimits.teammate];
  const args = [...what, ...when, ...limits, epoch ?? '', event, audit];
  const reply = await runTeamScript(context, team, 'ask-question', questionKeys(name, sessionId), args);
  switch (reply.word) {
    case 'asked':
    case 'known':
      return result(reader, name, reply.word);
    case 'conflict':
      throw new PlacetError('request_conflict', `question ${requestId} exists with other content`);
    case 'taken':
      throw new PlacetError('request_conflict', `the ID ${requestId} stands for another question`);
    case 'fenced':
      throw new PlacetError(
        'epoch_stale',
        `the session of ${requestId} has a later holder; nothing was asked`,
      );
    case 'full':
      throw new PlacetError(
        'rate_limited',
        `as many questions of the ${reply.text(0)} are open as may be; wait until some have ended`,
        { retryAfterMs: 60_000 },
      );
    case 'deadline':
      throw invalidField('deadline', 'must be at least 1 s from now, by the clock of the store');
    default:
      return unknownReply('ask-question', reply);
  }
}

async function result(reader: QuestionReader, name: QuestionName, word: string): Promise<AskResult> {
  const parts = await reader.own(name);
  if (!parts) throw new PlacetError('internal', `question ${name.requestId} is gone`);
  const entryId = `${parts.question.n}-0`;
  return { kind: word === 'asked' ? 'asked' : 'replayed', record: toQuestionRecord(parts), entryId };
}

/** @throws PlacetError `validation_failed` when it can be asked nowhere */
function checkAsking({ team, teammate, asking }: AskCommand): AskingMessage {
  const message = parseOrThrow(AskingSchema, asking, 'the question');
  const [fault] = findUnsafeJson(message);
  if (fault) throw invalidField(fault.path, fault.message);
  requireOwnId(message.requestId, { team, teammate });
  return message;
}
