import { type TeamName, TeamName as TeamNameSchema } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { teamsKey } from './keys.ts';
import { storeCall } from './scripts.ts';

/** Which teams there are: a set in a slot of its own, which sweeps and relays read (ST-1). */
export class Teams {
  readonly #handle: RedisHandle;
  readonly #known = new Set<string>();
  readonly #listeners = new Set<(team: TeamName) => void>();

  constructor(handle: RedisHandle) {
    this.#handle = handle;
    // A Redis that comes back may be another one, or an empty one.
    handle.onLost(() => this.#known.clear());
  }

  /** Writes the team's name before its first write; once a process and connection, so call it before every write. */
  async register(team: TeamName): Promise<void> {
    if (this.#known.has(team)) return;
    await storeCall('registering the team', () => this.#handle.redis.sadd(teamsKey, team));
    if (this.#known.has(team)) return;
    this.#known.add(team);
    for (const listener of this.#listeners) listener(team);
  }

  /** Every team, in no order. Names that are none, whoever wrote them, are left out. */
  async list(): Promise<TeamName[]> {
    const names = await storeCall('listing teams', () => this.#handle.redis.smembers(teamsKey));
    return names.filter((name) => TeamNameSchema.safeParse(name).success);
  }

  /** Tells of teams that this process registers; answers how to stop that. A hint only: other processes' are listed. */
  onRegistered(listener: (team: TeamName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
