import { type TeammateName, type TeamName, type Timestamp, toTimestamp } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { execAll, runScript } from './scripts.ts';
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
    // The time is that of the node that has the team.
    const reading = redis.multi().time().hgetall(keyOf(team, 'teammates'));
    const [time, fields] = await execAll('listing teammates', reading);
    const now = Array.isArray(time) ? Number(time[0]) * 1000 : 0;
    const seen = new Map(Object.entries(fields ?? {}).map(([name, at]) => [name, Number(at)]));
    const teammates = [...seen.keys()].sort();
    const batch = redis.pipeline();
    for (const teammate of teammates) batch.hvals(keyOf(team, 'seen', teammate));
    const untils = await execAll('listing processes', batch);
    return teammates.map((teammate, index) => {
      const ends = untils[index];
      return {
        teammate,
        lastSeen: toTimestamp(seen.get(teammate) ?? 0),
        processes: Array.isArray(ends) ? ends.filter((until) => Number(until) >= now).length : 0,
      };
    });
  }
}
