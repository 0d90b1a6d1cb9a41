import type { TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { runScript, unknownReply } from './scripts.ts';

/**
 * Background duties that exactly one process of a team does at a time (ST-7). The epoch goes into the duty's own
 * scripts, which refuse an earlier one: a process that was paused beyond its lease changes nothing any more.
 */
export class Duties {
  readonly #handle: RedisHandle;

  constructor(handle: RedisHandle) {
    this.#handle = handle;
  }

  /**
   * Takes or prolongs the lease of a duty.
   * @returns its epoch, which rises with each change of holder and each lapse; undefined while another process holds it
   */
  async lease(team: TeamName, duty: string, holder: string, ttlMs: number): Promise<number | undefined> {
    const reply = await runScript(this.#handle, 'hold-lease', [keyOf(team, 'lease', duty)], [holder, ttlMs]);
    if (reply.word === 'held') return reply.number(0);
    if (reply.word === 'busy') return undefined;
    return unknownReply('hold-lease', reply);
  }

  /** Gives the lease back, so that another process need not wait for its end. Harmless where it is not held. */
  async release(team: TeamName, duty: string, holder: string): Promise<void> {
    await runScript(this.#handle, 'release-lease', [keyOf(team, 'lease', duty)], [holder]);
  }
}
