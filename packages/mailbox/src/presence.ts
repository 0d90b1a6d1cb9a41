import { PlacetError, type TeammateName, type TeamName, type Timestamp } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';

/** A teammate as the lead sees it (TM-12). */
export interface TeammatePresence {
  teammate: TeammateName;
  /** Its last sign of life, by the store's clock. */
  lastSeen: Timestamp;
  /** Processes that count as alive; with none the worker is lost, which decides nothing. */
  processes: number;
}

/** Who is alive: heartbeats of teammates' processes (TM-12). */
export class Presence {
  constructor(_handle: RedisHandle) {}

  /** Says that a process of the teammate is alive for the next `ttlMs`. */
  report(_team: TeamName, _teammate: TeammateName, _process: string, _ttlMs: number): Promise<void> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Every teammate that was ever seen, by name. */
  list(_team: TeamName): Promise<TeammatePresence[]> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }
}
