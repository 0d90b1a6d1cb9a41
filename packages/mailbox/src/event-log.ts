import {
  type TeamEvent,
  type TeamEventBody,
  TeamEvent as TeamEventSchema,
  type TeamName,
  toTimestamp,
} from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { packEvent, unpackEvent } from './packed-event.ts';
import { runScript, storeCall, unknownReply } from './scripts.ts';
import { fieldOf, type StreamEntry } from './stream-entries.ts';
import type { Teams } from './teams.ts';

/** A page of a team's events. */
export interface EventPage {
  events: TeamEvent[];
  /** The log does not reach back to where the reader was, or never reached there: fetch everything anew (ST-6). */
  reset: boolean;
  /** Where to go on from: the last event of the page; after a reset the last event there is. */
  last: string;
}

/** A team's events, ids `<n>-0` from 1 without gaps (ST-6). */
export class EventLog {
  readonly #handle: RedisHandle;
  readonly #teams: Teams;

  constructor(handle: RedisHandle, teams: Teams) {
    this.#handle = handle;
    this.#teams = teams;
  }

  /** Appends an event. @returns its id */
  async append(team: TeamName, body: TeamEventBody): Promise<string> {
    await this.#teams.register(team);
    const keys = [keyOf(team, 'sequence'), keyOf(team, 'events')];
    const reply = await runScript(this.#handle, 'append-event', keys, [packEvent(team, body)]);
    if (reply.word !== 'ok') return unknownReply('append-event', reply);
    return `${reply.text(0)}-0`;
  }

  /** Events after the id `after` (from the first kept where it is undefined), at most `limit`. */
  async read(team: TeamName, after: string | undefined, limit: number): Promise<EventPage> {
    const from = after === undefined ? '' : (/^(\d{1,15})-0$/.exec(after)?.[1] ?? neverAnId);
    const keys = [keyOf(team, 'sequence'), keyOf(team, 'events')];
    const reply = await runScript(this.#handle, 'read-events', keys, [from, limit]);
    const last = `${reply.text(0)}-0`;
    if (reply.word === 'reset') return { events: [], reset: true, last };
    if (reply.word !== 'ok') return unknownReply('read-events', reply);
    const events: TeamEvent[] = [];
    const values = reply.texts(1);
    for (let index = 0; index + 2 < values.length; index += 3) {
      const [id = '', at = '', body = ''] = values.slice(index, index + 3);
      events.push(toEvent(team, id, at, body));
    }
    return { events, reset: false, last: events.at(-1)?.id ?? after ?? last };
  }

  /** The id of the last event; `0-0` where there never was one. */
  async last(team: TeamName): Promise<string> {
    const last = await storeCall('reading the last event number', () =>
      this.#handle.redis.hget(keyOf(team, 'sequence'), 'event'),
    );
    return `${last ?? 0}-0`;
  }
}

/** Reads an entry of a team's event stream. */
export function eventOfEntry(team: TeamName, { id, fields }: StreamEntry): TeamEvent {
  return toEvent(team, id, fieldOf(fields, 'at'), fieldOf(fields, 'b'));
}

/** Stands for an id that is none: beyond every event, so that the reader is told to start anew. */
const neverAnId = '999999999999999';

/** An event that cannot be read is not dropped, for the numbers have no gaps; it says that it is broken. */
function toEvent(team: TeamName, id: string, at: string, body: string): TeamEvent {
  const head = { id, at: toTimestamp(Number(at) || 0), team };
  try {
    const parsed = TeamEventSchema.safeParse(Object.assign({}, unpackEvent(team, body), head));
    if (parsed.success) return parsed.data;
  } catch {
    // somebody else wrote into the stream; it is shown as what it is
  }
  return { ...head, type: 'unreadable' };
}
