import type { Log } from '@placet/protocol';
import type { Cluster } from 'ioredis';
import { keyOf } from './keys.ts';
import type { ScriptRunner } from './scripts.ts';

const hintChannel = 'placet:hint';

/** Tells that something was written for a team. Hints get lost: they shorten a wait, and nothing depends on them (TM-45). */
export interface Hints {
  /** Answers how to stop that. */
  listen(listener: (team: string) => void): () => void;
}

/**
 * Hints of a Cluster, by plain pub/sub, which reaches every node (ST-8): a process publishes the teams whose scripts
 * were answered in one turn of its event loop, as one message.
 */
export class ClusterHints implements Hints {
  readonly #cluster: Cluster;
  readonly #log: Log;
  readonly #listeners = new Set<(team: string) => void>();
  readonly #unsaid = new Set<string>();
  #isSubscribed = false;

  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#log = log;
    cluster.on('message', (_channel: string, teams: string) => {
      for (const team of teams.split(' ')) for (const listener of this.#listeners) listener(team);
    });
    cluster.on('close', () => {
      this.#isSubscribed = false;
    });
    // Whatever kept it from subscribing may have passed by the next time that the nodes are looked up.
    for (const event of ['ready', 'refresh']) cluster.on(event, () => void this.#subscribe()); // never rejects
  }

  listen(listener: (team: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells whoever listens anywhere, soon. */
  say(team: string): void {
    if (this.#unsaid.size === 0) setImmediate(() => void this.#publish()); // never rejects
    this.#unsaid.add(team);
  }

  async #publish(): Promise<void> {
    const teams = [...this.#unsaid].join(' ');
    this.#unsaid.clear();
    try {
      await this.#cluster.publish(hintChannel, teams);
    } catch (error) {
      this.#log.debug({ err: error }, 'a hint was not given; the next sweep finds what was written');
    }
  }

  async #subscribe(): Promise<void> {
    if (this.#isSubscribed || this.#cluster.status !== 'ready') return;
    this.#isSubscribed = true;
    try {
      await this.#cluster.subscribe(hintChannel);
    } catch (error) {
      this.#isSubscribed = false;
      this.#log.debug({ err: error }, 'hints cannot be heard; sweeps find what is written');
    }
  }
}

/** Runs scripts, and gives a hint after each that numbers something of its team: an event, a wake-up. */
export class HintingWriter implements ScriptRunner {
  readonly #runner: ScriptRunner;
  readonly #hints: ClusterHints;

  constructor(runner: ScriptRunner, hints: ClusterHints) {
    this.#runner = runner;
    this.#hints = hints;
  }

  async evalsha(sha: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown> {
    const reply = await this.#runner.evalsha(sha, keyCount, ...rest);
    this.#hint(rest[0]);
    return reply;
  }

  async eval(source: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown> {
    const reply = await this.#runner.eval(source, keyCount, ...rest);
    this.#hint(rest[0]);
    return reply;
  }

  /** Scripts that write to a stream have the team's numbers as their first key. */
  #hint(key: unknown): void {
    const team = /\{(.+?)\}/.exec(String(key))?.[1];
    if (team !== undefined && key === keyOf(team, 'sequence')) this.#hints.say(team);
  }
}
