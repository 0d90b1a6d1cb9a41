import {
  type AgentName,
  type Envelope,
  isAsking,
  isOrder,
  KnownMessage,
  leadInboxName,
  type Message,
  PlacetError,
  parseOrThrow,
  reservedMessageTypes,
  type TeammateName,
  type TeamName,
} from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { EnvelopeReader } from './envelope-reader.ts';
import type { InboxQuestions, InboxRequests } from './inbox-requests.ts';
import { keyOf } from './keys.ts';
import { LeadInbox } from './lead-inbox.ts';
import type { TakenEntry } from './mailbox-port.ts';
import { type Reply, runScript, type ScriptName, storeCall, unknownReply } from './scripts.ts';
import { fieldOf, parseEntries, type StreamEntry } from './stream-entries.ts';
import type { Teams } from './teams.ts';

/** What the inboxes are made of. */
export interface InboxOptions {
  handle: RedisHandle;
  teams: Teams;
  requests: InboxRequests;
  questions: InboxQuestions;
  /** How long a taken entry is out before it is offered again; 60,000 unless set (TM-41). */
  visibilityMs?: number | undefined;
}

/** A message on its way. */
export interface Sending {
  from: AgentName;
  to: AgentName;
  message: Message;
  /** Makes a repetition harmless for a day (TM-45). */
  operationId?: string | undefined;
  /** The lead's mode from now on, signed (`createLeadMode`); kept with the message in one step. */
  leadMode?: string | undefined;
}

/** An entry that could not be delivered (TM-41). */
export interface DeadLetter {
  entry: Envelope;
  deliveries: number;
}

/** An entry is offered this often before it counts as undeliverable (TM-41). */
const maxDeliveries = 5;
const keptDeadLetters = 1000;
const operationMs = 24 * 60 * 60 * 1000;

/** The inboxes of the lead and of every teammate (4.4). */
export class InboxStore {
  readonly #handle: RedisHandle;
  readonly #teams: Teams;
  readonly #visibilityMs: number;
  readonly #envelopes: EnvelopeReader;
  readonly #lead: LeadInbox;

  constructor({ handle, teams, requests, questions, visibilityMs = 60_000 }: InboxOptions) {
    this.#handle = handle;
    this.#teams = teams;
    this.#visibilityMs = visibilityMs;
    this.#envelopes = new EnvelopeReader(requests, questions);
    this.#lead = new LeadInbox(handle, requests, questions);
  }

  /** What is not acknowledged, in order, at most `limit`, after the entry id `after`; reading changes nothing. */
  async read(
    team: TeamName,
    agent: AgentName,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<Envelope[]> {
    if (after !== undefined && !isEntryId(after))
      throw new PlacetError('validation_failed', '"after" must be the id of an entry of this inbox');
    if (agent === leadInboxName) return this.#lead.read(team, after, limit);
    const entries = await storeCall('reading an inbox', () =>
      this.#handle.redis.xrange(
        keyOf(team, 'inbox', agent),
        after === undefined ? '-' : `(${after}`,
        '+',
        'COUNT',
        limit,
      ),
    );
    return (await this.#envelopes.read(team, agent, parseEntries(entries))).found;
  }

  /** Takes a teammate's entries that are due; each is then out for the visibility time (TM-41). */
  async take(team: TeamName, teammate: TeammateName, limit: number): Promise<TakenEntry[]> {
    const keys = [
      keyOf(team, 'inbox', teammate),
      keyOf(team, 'deadLetters', teammate),
      keyOf(team, 'sequence'),
      keyOf(team, 'events'),
    ];
    const args = [this.#visibilityMs, limit, maxDeliveries, deadLetterAlarm(teammate), keptDeadLetters];
    const reply = await this.#run('take-entries', keys, args);
    const deliveries = new Map<string, number>();
    const entries: StreamEntry[] = [];
    const values = reply.texts(0);
    for (let index = 0; index + 3 < values.length; index += 4) {
      const [id = '', count = '', ...fields] = values.slice(index, index + 4);
      deliveries.set(id, Number(count));
      entries.push({ id, fields });
    }
    const { found, gone } = await this.#envelopes.read(team, teammate, entries);
    await this.acknowledge(team, teammate, gone);
    return found.map((envelope) => ({ ...envelope, deliveries: deliveries.get(envelope.id) ?? 1 }));
  }

  /** Removes entries. Plan requests and open questions in the lead's inbox stay (WR-26). @returns how many were removed */
  async acknowledge(team: TeamName, agent: AgentName, ids: readonly string[]): Promise<number> {
    const valid = ids.filter(isEntryId);
    if (valid.length === 0) return 0;
    if (agent === leadInboxName) return this.#lead.acknowledge(team, valid);
    const reply = await this.#run('ack-entries', [keyOf(team, 'inbox', agent)], ['teammate', ...valid]);
    return reply.number(0);
  }

  /**
   * Sends a message that nobody needs to answer: a question is asked with `QuestionStore.ask`.
   * @throws PlacetError `validation_failed` for a reserved or asking type, or a known type of another shape
   */
  async send(
    team: TeamName,
    { from, to, message, operationId, leadMode = '' }: Sending,
  ): Promise<{ id: string }> {
    checkMessage(message);
    await this.#teams.register(team);
    const envelope = JSON.stringify({ from, to, message }).slice(0, -1);
    const event = JSON.stringify({ type: 'message', to, from });
    const args = [envelope, event, leadMode, operationId === undefined ? 0 : operationMs];
    const shared = [
      keyOf(team, 'operation', from, operationId ?? ''),
      keyOf(team, 'sequence'),
      keyOf(team, 'events'),
      keyOf(team, 'leadMode'),
    ];
    const reply =
      to === leadInboxName
        ? await this.#run('push-note', [keyOf(team, 'notes'), keyOf(team, 'note'), ...shared], args)
        : await this.#run('push-entry', [keyOf(team, 'inbox', to), ...shared], args);
    return { id: reply.text(0) };
  }

  /** What could not be delivered to a teammate, oldest first, at most 1,000. */
  async deadLetters(team: TeamName, teammate: TeammateName): Promise<DeadLetter[]> {
    const reply = await storeCall('reading dead letters', () =>
      this.#handle.redis.xrange(keyOf(team, 'deadLetters', teammate), '-', '+'),
    );
    const letters = parseEntries(reply).map(({ fields }) => ({
      entry: { id: fieldOf(fields, 'id'), fields: fields.slice(4) },
      deliveries: Number(fieldOf(fields, 'n')),
    }));
    const { found } = await this.#envelopes.read(
      team,
      teammate,
      letters.map(({ entry }) => entry),
    );
    const entries = new Map(found.map((envelope) => [envelope.id, envelope]));
    return letters.flatMap(({ entry: { id }, deliveries }) => {
      const entry = entries.get(id);
      return entry ? [{ entry, deliveries }] : [];
    });
  }

  /** The lead's mode, as it was last sent; to be verified before it is believed (TM-30, IN-6). */
  leadMode(team: TeamName): Promise<string | undefined> {
    return storeCall("reading the lead's mode", async () => {
      const mode = await this.#handle.redis.get(keyOf(team, 'leadMode'));
      return mode ?? undefined;
    });
  }

  async #run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    const reply = await runScript(this.#handle, name, keys, args);
    return reply.word === 'ok' ? reply : unknownReply(name, reply);
  }
}

function isEntryId(id: string): boolean {
  return /^\d{1,15}-\d{1,15}$/.test(id);
}

/** A known type must have its shape, for someone acts on it; an unknown one is passed on as it is (WR-12). */
function checkMessage(message: Message): void {
  if (reservedMessageTypes.some((type) => type === message.type))
    throw new PlacetError(
      'validation_failed',
      `a message of type ${message.type} is made by the store, not sent`,
    );
  if (isOrder(message))
    throw new PlacetError(
      'validation_failed',
      'a session is told its mode by its own route, not by a message',
    );
  if (isAsking(message))
    throw new PlacetError('validation_failed', `a ${message.type} is asked of the lead, not sent to anybody`);
  const known = KnownMessage.options.some(({ shape }) => shape.type.value === message.type);
  if (known) parseOrThrow(KnownMessage, message, 'the message');
}

function deadLetterAlarm(teammate: TeammateName): string {
  const detail = `a message to ${teammate} could not be delivered ${maxDeliveries} times; see its dead letters`;
  return JSON.stringify({ type: 'alarm', teammate, code: 'undeliverable', detail });
}
