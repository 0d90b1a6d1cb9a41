import {
  type AgentName,
  answeringMessage,
  Envelope,
  leadInboxName,
  type RequestId,
  responseMessage,
  type TeamName,
  toTimestamp,
} from '@placet/protocol';
import type { InboxQuestions, InboxRequests } from './inbox-requests.ts';
import { toQuestionRecord } from './question-codec.ts';
import { fieldOf, numberOfEntry, type StreamEntry } from './stream-entries.ts';

/** What came of reading entries: whole messages, and the ids of those that can never be read again. */
export interface ReadEntries {
  found: Envelope[];
  gone: string[];
}

/** Makes whole messages of a teammate's entries, which refer to requests, plans and questions (WR-14). */
export class EnvelopeReader {
  readonly #requests: InboxRequests;
  readonly #questions: InboxQuestions;

  constructor(requests: InboxRequests, questions: InboxQuestions) {
    this.#requests = requests;
    this.#questions = questions;
  }

  /** In the order of the entries, without those whose request or question was purged. */
  async read(team: TeamName, to: AgentName, entries: readonly StreamEntry[]): Promise<ReadEntries> {
    const envelopes = await Promise.all(entries.map((entry) => this.#envelope(team, to, entry)));
    return {
      found: envelopes.filter((envelope) => envelope !== undefined),
      gone: entries.filter((_, index) => envelopes[index] === undefined).map(({ id }) => id),
    };
  }

  async #envelope(team: TeamName, to: AgentName, { id, fields }: StreamEntry): Promise<Envelope | undefined> {
    const [requestId, questionId] = [fieldOf(fields, 'r'), fieldOf(fields, 'q')];
    if (requestId === '' && questionId === '') return readEnvelope(id, fieldOf(fields, 'e'));
    const endedAt = toTimestamp(numberOfEntry(id));
    const message =
      requestId === ''
        ? await this.#answer(team, questionId)
        : await this.#response(team, requestId, endedAt);
    return message && { id, from: leadInboxName, to, timestamp: endedAt, message };
  }

  async #answer(team: TeamName, questionId: RequestId) {
    const [parts] = await this.#questions.find(team, [questionId]);
    return parts && answeringMessage(toQuestionRecord(parts));
  }

  async #response(team: TeamName, requestId: RequestId, endedAt: string) {
    const record = await this.#requests.get(team, requestId);
    if (!record) return undefined; // its time is over: purged with everything that belonged to it
    const digest = record.decision?.planEdited ? record.decision.approvedPlanDigest : undefined;
    const edited = digest && (await this.#requests.planBytes(team, digest));
    return responseMessage(record, {
      endedAt,
      ...(edited && { editedPlan: new TextDecoder().decode(edited) }),
    });
  }
}

/** Reads an envelope as the store keeps it; undefined where it is none, whoever wrote it. */
export function readEnvelope(id: string, json: string): Envelope | undefined {
  try {
    const { at, ...rest } = JSON.parse(json);
    return Envelope.safeParse({ ...rest, id, timestamp: toTimestamp(at) }).data;
  } catch {
    return undefined;
  }
}
