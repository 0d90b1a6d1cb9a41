import { type Envelope, leadInboxName, requestMessage, type TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { readEnvelope } from './envelope-reader.ts';
import type { InboxRequests } from './inbox-requests.ts';
import { keyOf } from './keys.ts';
import { execAll, runScript, storeCall, unknownReply } from './scripts.ts';
import { numberOfEntry } from './stream-entries.ts';

/** How many entries are read at once. */
const chunkSize = 16;
/** A page ends, however many entries were asked for, when its plans have this many bytes. */
const maxPlanBytesOfPage = 4 * 1024 * 1024;

interface Listed {
  member: string;
  number: number;
}

/**
 * The lead's inbox (TM-40): the index of pending requests and the other messages to the lead, joined by inbox number.
 * A request leaves it by ending and by nothing else (WR-26).
 */
export class LeadInbox {
  readonly #handle: RedisHandle;
  readonly #requests: InboxRequests;

  constructor(handle: RedisHandle, requests: InboxRequests) {
    this.#handle = handle;
    this.#requests = requests;
  }

  /** What is in it, in order, at most `limit`, after the entry id `after`; reading changes nothing. */
  /** A page may be shorter than `limit` where plans are long; only an empty one is the last. */
  async read(team: TeamName, after: string | undefined, limit: number): Promise<Envelope[]> {
    const envelopes: Envelope[] = [];
    let planBytes = 0;
    let from = after === undefined ? 0 : numberOfEntry(after);
    // A request can end, or turn out to be late, while it is read: then the page is filled from what follows.
    while (envelopes.length < limit && planBytes < maxPlanBytesOfPage) {
      const size = Math.min(limit - envelopes.length, chunkSize);
      const { requests, notes } = await this.#list(team, from, size);
      const page = [...requests, ...notes].sort((one, other) => one.number - other.number);
      const listed = page.slice(0, size);
      if (listed.length === 0) break;
      const asked = new Set(notes);
      const isNote = (entry: Listed) => asked.has(entry);
      const texts = await this.#notes(team, listed.filter(isNote));
      const read = await Promise.all(
        listed.map(async (entry) =>
          isNote(entry)
            ? readEnvelope(entryId(entry), texts.get(entry.number) ?? '')
            : this.#request(team, entry),
        ),
      );
      for (const envelope of read) {
        if (!envelope) continue;
        envelopes.push(envelope);
        planBytes += planBytesOf(envelope);
      }
      from = listed.at(-1)?.number ?? from;
    }
    return envelopes;
  }

  /** Takes messages out and answers how many; requests among the ids stay. */
  async acknowledge(team: TeamName, ids: readonly string[]): Promise<number> {
    const keys = [keyOf(team, 'notes'), keyOf(team, 'note')];
    const reply = await runScript(this.#handle, 'ack-notes', keys, ids.map(numberOfEntry));
    return reply.word === 'ok' ? reply.number(0) : unknownReply('ack-notes', reply);
  }

  async #list(
    team: TeamName,
    after: number,
    limit: number,
  ): Promise<{ requests: Listed[]; notes: Listed[] }> {
    const range = [`(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit] as const;
    const batch = this.#handle.redis
      .pipeline()
      .zrangebyscore(keyOf(team, 'pending'), ...range)
      .zrangebyscore(keyOf(team, 'notes'), ...range);
    const [requests, notes] = await execAll("reading the lead's inbox", batch);
    return { requests: withScores(requests), notes: withScores(notes) };
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

function planBytesOf({ message: { planContent } }: Envelope): number {
  return typeof planContent === 'string' ? Buffer.byteLength(planContent) : 0;
}

function entryId({ number }: Listed): string {
  return `${number}-0`;
}

function withScores(reply: unknown): Listed[] {
  const values = Array.isArray(reply) ? reply.map(String) : [];
  const listed: Listed[] = [];
  for (let index = 0; index + 1 < values.length; index += 2) {
    listed.push({ member: values[index] ?? '', number: Number(values[index + 1]) });
  }
  return listed;
}
