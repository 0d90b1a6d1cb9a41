import { PlacetError, type TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';

/** Background duties that exactly one process of a team does at a time (ST-7). */
export class Duties {
  constructor(_handle: RedisHandle) {}

  /**
   * Takes or prolongs the lease of a duty.
   * @returns its epoch, which rises with each change of holder; undefined while another process holds it
   */
  lease(_team: TeamName, _duty: string, _holder: string, _ttlMs: number): Promise<number | undefined> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** Gives the lease back, so that another process need not wait for its end. Harmless where it is not held. */
  release(_team: TeamName, _duty: string, _holder: string): Promise<void> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }
}
