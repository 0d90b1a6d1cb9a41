import { type Envelope, leadInboxName, requestMessage, type TeamName, toTimestamp } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { readEnvelope } from './envelope-reader.ts';
import type { InboxQuestions, InboxRequests } from './inbox-requests.ts';
import { keyOf } from './keys.ts';
import { toAskingMessage } from './question-codec.ts';
import { scoredMembers } from './scored-members.ts';
import { execAll, runScript, storeCall, unknownReply } from './scripts.ts';
import { numberOfEntry } from './stream-entries.ts';

/** How many entries are read at once. */
const chunkSize = 16;
/** A page ends, however many entries were asked for, when its plans and questions have this many bytes. */
const maxBytesOfPage = 4 * 1024 * 1024;

/** The indexes that make up the inbox, each scored by inbox number. */
const indexes = ['pending', 'notes', 'openQuestions'] as const;

interface Listed {
  index: (typeof indexes)[number];
  member: string;
  number: number;
}

/**
 * The lead's inbox (TM-40): the indexes of pending requests and open questions and the other messages to the lead,
 * joined by inbox number. A request or question leaves it by ending and by nothing else (WR-26).
 */
export class LeadInbox {
  readonly #handle: RedisHandle;
  readonly #requests: InboxRequests;
  readonly #questions: InboxQuestions;

  constructor(handle: RedisHandle, requests: InboxRequests, questions: InboxQuestions) {
    this.#handle = handle;
    this.#requests = requests;
    this.#questions = questions;
  }

  /**
   * What is in it, in order, at most `limit`, after the entry id `after`; reading changes nothing. A page may be shorter
   * than `limit` where plans or questions are long; only an empty one is the last.
   */
  async read(team: TeamName, after: string | undefined, limit: number): Promise<Envelope[]> {
    const envelopes: Envelope[] = [];
    let bytes = 0;
    let from = after === undefined ? 0 : numberOfEntry(after);
    // A request can end, or turn out to be late, while it is read: then the page is filled from what follows.
    while (envelopes.length < limit && bytes < maxBytesOfPage) {
      const size = Math.min(limit - envelopes.length, chunkSize);
      const listed = await this.#list(team, from, size);
      if (listed.length === 0) break;
      for (const envelope of await this.#read(team, listed)) {
        if (!envelope) continue;
        envelopes.push(envelope);
        bytes += bytesOf(envelope);
      }
      from = listed.at(-1)?.number ?? from;
    }
    return envelopes;
  }

  /** Takes messages out and answers how many; requests and questions among the ids stay. */
  async acknowledge(team: TeamName, ids: readonly string[]): Promise<number> {
    const keys = [keyOf(team, 'notes'), keyOf(team, 'note')];
    const reply = await runScript(this.#handle, 'ack-notes', keys, ids.map(numberOfEntry));
    return reply.word === 'ok' ? reply.number(0) : unknownReply('ack-notes', reply);
  }

  async #list(team: TeamName, after: number, limit: number): Promise<Listed[]> {
    const range = [`(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit] as const;
    const batch = this.#handle.redis.pipeline();
    for (const index of indexes) batch.zrangebyscore(keyOf(team, index), ...range);
    const replies = await execAll("reading the lead's inbox", batch);
    return indexes
      .flatMap((index, place) =>
        scoredMembers(replies[place]).map(({ member, score }) => ({ index, member, number: score })),
      )
      .sort((one, other) => one.number - other.number)
      .slice(0, limit);
  }

  /** The entries in their order; undefined for those that ended meanwhile. */
  async #read(team: TeamName, listed: readonly Listed[]): Promise<(Envelope | undefined)[]> {
    const of = (index: Listed['index']) => listed.filter((entry) => entry.index === index);
    const notes = await this.#notes(team, of('notes'));
    const questions = await this.#asked(team, of('openQuestions'));
    return Promise.all(
      listed.map(async (entry) => {
        if (entry.index === 'pending') return this.#request(team, entry);
        if (entry.index === 'openQuestions') return questions.get(entry.number);
        return readEnvelope(entryId(entry), notes.get(entry.number) ?? '');
      }),
    );
  }

  async #asked(team: TeamName, listed: readonly Listed[]): Promise<Map<number, Envelope>> {
    const found = await this.#questions.findReadable(
      team,
      listed.map(({ member }) => member),
    );
    const envelopes = new Map<number, Envelope>();
    for (const [place, entry] of listed.entries()) {
      const parts = found[place];
      if (!parts || parts.ending) continue;
      const { teammate: from, question } = parts;
      const timestamp = toTimestamp(question.at);
      const message = toAskingMessage(parts);
      envelopes.set(entry.number, { id: entryId(entry), from, to: leadInboxName, timestamp, message });
    }
    return envelopes;
  }

  async #notes(team: TeamName, notes: readonly Listed[]): Promise<Map<number, string>> {
    if (notes.length === 0) return new Map();
    const numbers = notes.map(({ number }) => number);
    const texts = await storeCall('reading messages', () =>
      this.#handle.redis.hmget(keyOf(team, 'note'), ...numbers.map(String)),
    );
    return new Map(numbers.map((number, index) => [number, texts[index] ?? '']));
  }

  async #request(team: TeamName, entry: Listed): Promise<Envelope | undefined> {
    const record = await this.#requests.getWithPlan(team, entry.member);
    if (record?.state !== 'pending') return undefined;
    const { teammate: from, submittedAt: timestamp } = record;
    return { id: entryId(entry), from, to: leadInboxName, timestamp, message: requestMessage(record) };
  }
}

/** Of what may be long in it: a plan, or questions. */
function bytesOf({ message: { planContent, questions } }: Envelope): number {
  if (typeof planContent === 'string') return Buffer.byteLength(planContent);
  return questions === undefined ? 0 : Buffer.byteLength(JSON.stringify(questions));
}

function entryId({ number }: Listed): string {
  return `${number}-0`;
}
