import type { RedisHandle } from '../connection.ts';
import { keyOf } from '../keys.ts';
import { storeCall } from '../scripts.ts';
import type { RevocationStore } from './revocations.ts';

/** What of the list of teams is needed here. */
export interface TeamList {
  list(): Promise<string[]>;
}

/** Revocations in Redis (WR-32): each team has all of them, in `lead:revoked`. */
export class RedisRevocations implements RevocationStore {
  readonly #handle: RedisHandle;
  readonly #teams: TeamList;

  constructor(handle: RedisHandle, teams: TeamList) {
    this.#handle = handle;
    this.#teams = teams;
  }

  /** What any team has: one copy that is left is enough. */
  async readRevoked(): Promise<ReadonlyMap<string, number>> {
    const found = await this.#eachTeam((key) => this.#handle.redis.hgetall(key));
    const union = new Map(found.flatMap((entries) => Object.entries(entries)));
    return new Map([...union].map(([jti, expiry]): [string, number] => [jti, Number(expiry)]));
  }

  async addRevoked(jti: string, expiresAtMs: number): Promise<void> {
    await this.#eachTeam((key) => this.#handle.redis.hset(key, jti, expiresAtMs));
    await storeCall('revocations', () => this.#handle.confirm());
  }

  async #eachTeam<Result>(act: (key: string) => Promise<Result>): Promise<Result[]> {
    const teams = await this.#teams.list();
    return storeCall('revocations', () => Promise.all(teams.map((team) => act(keyOf(team, 'revoked')))));
  }
}
