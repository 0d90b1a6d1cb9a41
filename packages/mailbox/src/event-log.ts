import { PlacetError, type TeamEvent, type TeamEventBody, type TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
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
  constructor(_handle: RedisHandle, _teams: Teams) {}

  /** Appends an event. @returns its id */
  append(_team: TeamName, _body: TeamEventBody): Promise<string> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Events after the id `after` (from the first kept where it is undefined), at most `limit`. */
  read(_team: TeamName, _after: string | undefined, _limit: number): Promise<EventPage> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** The id of the last event; `0-0` where there never was one. */
  last(_team: TeamName): Promise<string> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }
}
