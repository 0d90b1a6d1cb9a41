import { type TeammateName, type TeamName, type Timestamp, toTimestamp } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { execAll, runScript, storeCall } from './scripts.ts';
import type { Teams } from './teams.ts';

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
  readonly #handle: RedisHandle;
  readonly #teams: Teams;

  constructor(handle: RedisHandle, teams: Teams) {
    this.#handle = handle;
    this.#teams = teams;
  }

  /** Says that a process of the teammate is alive for the next `ttlMs`. */
  async report(team: TeamName, teammate: TeammateName, process: string, ttlMs: number): Promise<void> {
    await this.#teams.register(team);
    const keys = [keyOf(team, 'seen', teammate), keyOf(team, 'teammates')];
    await runScript(this.#handle, 'report-presence', keys, [process, ttlMs, teammate]);
  }

  /** Every teammate that was ever seen, by name. */
  async list(team: TeamName): Promise<TeammatePresence[]> {
    const { redis } = this.#handle;
    const [seen, time] = await storeCall('listing teammates', () =>
      Promise.all([redis.hgetall(keyOf(team, 'teammates')), redis.time()]),
    );
    const now = Number(time[0]) * 1000;
    const teammates = Object.keys(seen).sort();
    const batch = redis.pipeline();
    for (const teammate of teammates) batch.hvals(keyOf(team, 'seen', teammate));
    const untils = await execAll('listing processes', batch);
    return teammates.map((teammate, index) => {
      const ends = untils[index];
      return {
        teammate,
        lastSeen: toTimestamp(Number(seen[teammate])),
        processes: Array.isArray(ends) ? ends.filter((until) => Number(until) >= now).length : 0,
      };
    });
  }
}
