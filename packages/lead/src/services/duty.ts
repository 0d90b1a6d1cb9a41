import { setTimeout as delay } from 'node:timers/promises';
import { isPlacetError } from '@placet/protocol';
import type { Log } from '../log.ts';
import type { LeadMetrics } from '../metrics.ts';

/** Something that one process at a time does for each team, again and again (ST-7). */
export interface Duty {
  name: string;
  everyMs: number;
  /** One bounded piece for one team; answers whether there is more to do at once. */
  run: (team: string, epoch: number) => Promise<boolean>;
}

/** What a runner of duties needs. */
export interface DutyOptions {
  teams: () => Promise<string[]>;
  /** Takes or prolongs the lease of a duty of a team; its epoch, or undefined where another process has it. */
  lease: (team: string, duty: string) => Promise<number | undefined>;
  /** Gives the lease back, so that another process need not wait for its end. */
  release: (team: string, duty: string) => Promise<void>;
  log: Log;
  metrics: LeadMetrics;
}

/** How many pieces of one team's work are done before the other teams have their turn. */
const maxPieces = 20;

/**
 * Runs one duty over all teams until it is closed. A store that is away is waited for: said once, then tried at
 * every turn.
 */
export class DutyRunner {
  readonly #duty: Duty;
  readonly #options: DutyOptions;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #held = new Set<string>();
  #storeIsAway = false;

  constructor(duty: Duty, options: DutyOptions) {
    this.#duty = duty;
    this.#options = options;
    this.#done = this.#loop();
  }

  /** Ends after the piece at hand, and gives its leases back. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
    const { release, log } = this.#options;
    const teams = [...this.#held];
    this.#held.clear();
    for (const team of teams)
      try {
        await release(team, this.#duty.name);
      } catch (err) {
        log.debug({ err, team, duty: this.#duty.name }, 'a lease is left to lapse');
        return; // a store that is away for one team is away for all
      }
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#turn();
      await delay(this.#duty.everyMs, undefined, { signal }).catch(() => undefined); // aborted: the loop's condition sees it
    }
  }

  async #turn(): Promise<void> {
    const { name } = this.#duty;
    const { metrics, log, teams } = this.#options;
    try {
      for (const team of await teams()) {
        if (this.#stopping.signal.aborted) return;
        await this.#runFor(team);
      }
      if (this.#storeIsAway) log.info({ duty: name }, 'the store is back');
      this.#storeIsAway = false;
    } catch (err) {
      metrics.duties.inc({ duty: name, result: 'failed' });
      if (!isPlacetError(err, 'store_unavailable', 'not_durable'))
        log.error({ err, duty: name }, 'a duty failed and is tried again');
      else if (!this.#storeIsAway) log.warn({ duty: name }, 'the store is away; the duty waits for it');
      this.#storeIsAway = isPlacetError(err, 'store_unavailable', 'not_durable');
    }
  }

  async #runFor(team: string): Promise<void> {
    const { name, run } = this.#duty;
    const { lease, metrics } = this.#options;
    for (let piece = 0; piece < maxPieces && !this.#stopping.signal.aborted; piece++) {
      // Before each piece, so that no piece runs under a lease that lapsed while the last one took its time.
      const epoch = await lease(team, name);
      if (epoch === undefined) {
        this.#held.delete(team);
        return;
      }
      this.#held.add(team);
      const more = await run(team, epoch);
      metrics.duties.inc({ duty: name, result: 'done' });
      if (!more) return;
    }
  }
}
