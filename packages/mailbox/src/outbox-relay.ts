import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, SessionId, silentLog, TeammateName, type TeamName } from '@placet/protocol';
import { z } from 'zod';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { runScript, storeCall } from './scripts.ts';
import { fieldOf, parseEntries, parseStreams, type StreamEntry } from './stream-entries.ts';
import { StreamReader } from './stream-reader.ts';
import type { TaskQueues } from './task-queues.ts';
import type { Teams } from './teams.ts';

/** What a relay is made of. */
export interface OutboxRelayOptions {
  handle: RedisHandle;
  queues: TaskQueues;
  teams: Teams;
  log?: Log | undefined;
  /** How long an entry may be in the hands of another relay before this one takes it; 5000 unless set (ST-7). */
  claimAfterMs?: number | undefined;
}

const group = 'relay';
const batchSize = 128;
/** How often teams of other processes, and entries of dead relays, are looked for. */
const sweepEveryMs = 1000;

/** A relay that has not been heard of for so long is dead. */
const forgetAfterMs = 60 * 60 * 1000;

/** An entry as the step that ended a request wrote it. */
const OutboxEntry = z.object({ t: TeammateName, s: SessionId, w: z.coerce.number().int().positive() });

/**
 * Turns outbox entries of every team into jobs, at least once (TM-5, ST-7): an entry leaves the outbox only after its
 * job is in the queue, and adding a job twice is harmless. Any number may run at once.
 */
export class OutboxRelay {
  readonly #handle: RedisHandle;
  readonly #queues: TaskQueues;
  readonly #teams: Teams;
  readonly #log: Log;
  readonly #claimAfterMs: number;
  readonly #consumer = randomUUID();
  readonly #outboxes = new Map<string, TeamName>();
  /** Outboxes whose group is known to be there. */
  readonly #claimable = new Set<string>();
  readonly #reader: StreamReader;
  readonly #closing = new AbortController();
  #sweeping: Promise<void> | undefined;
  #forgetTeams: (() => void) | undefined;

  constructor({ handle, queues, teams, log = silentLog, claimAfterMs = 5000 }: OutboxRelayOptions) {
    this.#handle = handle;
    this.#queues = queues;
    this.#teams = teams;
    this.#log = log;
    this.#claimAfterMs = claimAfterMs;
    this.#reader = new StreamReader({
      handle,
      log,
      what: 'outboxes',
      group: { name: group, consumer: this.#consumer },
      count: batchSize,
      keys: () => [...this.#outboxes.keys()],
      keyOfTeam: (team) => keyOf(team, 'outbox'),
      after: () => '>',
      onEntries: (key, entries) => this.#relay(key, entries),
      onStart: async () => this.#adopt(await this.#teams.list()),
      onResume: (key) => this.#resume(key),
    });
  }

  /** Starts relaying; Redis need not be there yet. */
  start(): void {
    if (this.#sweeping || this.#closing.signal.aborted) return;
    this.#forgetTeams = this.#teams.onRegistered((team) => this.#adopt([team]));
    this.#reader.start();
    this.#sweeping = this.#sweep();
  }

  /** Stops after the batch in hand; what is unfinished, another relay does. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#forgetTeams?.();
    await Promise.all([this.#reader.close(), this.#sweeping]);
    await this.#resign();
  }

  /** The group may be gone with the server that had it; and a batch may have been lost half way. */
  async #resume(key: string): Promise<void> {
    this.#claimable.delete(key);
    await this.#createGroup(key);
    await this.#relayOwn(key);
    await this.#prune(key);
    this.#claimable.add(key);
  }

  /** Takes out the names of relays that died long ago and have nothing in hand any more. */
  async #prune(key: string): Promise<void> {
    const consumers = await storeCall('listing relays', () =>
      this.#handle.redis.xinfo('CONSUMERS', key, group),
    );
    const listed = Array.isArray(consumers) ? consumers : [];
    for (const consumer of listed) {
      const fields = Array.isArray(consumer) ? consumer.map(String) : [];
      if (Number(fieldOf(fields, 'idle')) < forgetAfterMs) continue;
      await runScript(this.#handle, 'leave-group', [key], [group, fieldOf(fields, 'name')]);
    }
  }

  #adopt(teams: readonly TeamName[]): void {
    for (const team of teams) {
      const key = keyOf(team, 'outbox');
      if (this.#outboxes.has(key)) continue;
      this.#outboxes.set(key, team);
      this.#reader.poke();
    }
  }

  async #createGroup(key: string): Promise<void> {
    await storeCall('making the relay group', async () => {
      try {
        await this.#handle.redis.xgroup('CREATE', key, group, '0', 'MKSTREAM');
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error; // it is there already
      }
    });
  }

  /** Entries that were given to this relay and not finished, as when the queue could not be reached. */
  async #relayOwn(key: string): Promise<void> {
    for (;;) {
      const reply = await storeCall('reading unfinished wake-ups', () =>
        this.#handle.redis.call(
          'XREADGROUP',
          'GROUP',
          group,
          this.#consumer,
          'COUNT',
          batchSize,
          'STREAMS',
          key,
          '0',
        ),
      );
      const entries = parseStreams(reply).flatMap((stream) => stream.entries);
      if (entries.length === 0) return;
      await this.#relay(key, entries);
    }
  }

  async #relay(key: string, entries: readonly StreamEntry[]): Promise<void> {
    const team = this.#outboxes.get(key);
    if (team === undefined || entries.length === 0) return;
    await Promise.all(entries.map((entry) => this.#enqueue(team, entry)));
    await runScript(this.#handle, 'ack-entries', [key], [group, ...entries.map(({ id }) => id)]);
  }

  async #enqueue(team: TeamName, { id, fields }: StreamEntry): Promise<void> {
    if (fields.length === 0) return; // another relay finished it in between
    const entry = OutboxEntry.safeParse(
      Object.fromEntries(['t', 's', 'w'].map((name) => [name, fieldOf(fields, name)])),
    );
    if (!entry.success) {
      this.#log.error({ team, entry: id }, 'an outbox entry is unreadable and is thrown away');
      return;
    }
    const { t: teammate, s: sessionId, w: wake } = entry.data;
    if (!(await this.#isTask(team, teammate, sessionId, fieldOf(fields, 'k')))) return;
    await this.#queues.enqueueWake(team, teammate, sessionId, wake);
    this.#log.debug({ team, teammate, sessionId, wake }, 'woken');
  }

  /** A session without a task (a plan that was only submitted) has nobody to wake. The entry says which it is. */
  async #isTask(
    team: TeamName,
    teammate: TeammateName,
    sessionId: SessionId,
    said: string,
  ): Promise<boolean> {
    if (said !== '') return said === '1';
    const count = await storeCall('looking for the task', () =>
      this.#handle.redis.exists(keyOf(team, 'task', teammate, sessionId)),
    );
    return count === 1;
  }

  /** Looks for other processes' teams, and for entries whose relay died. Never rejects. */
  async #sweep(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#handle.ready(this.#closing.signal);
        await this.#lookAround();
      } catch (error) {
        if (!this.#closing.signal.aborted)
          this.#log.warn({ err: error }, 'looking for teams failed; trying again');
      }
      await delay(Math.min(sweepEveryMs, this.#claimAfterMs), undefined, {
        signal: this.#closing.signal,
      }).catch(
        () => undefined, // closing
      );
    }
  }

  /** In a Cluster some outboxes may answer while others do not. What went wrong first is thrown at the end. */
  async #lookAround(): Promise<void> {
    const faults: unknown[] = [];
    const attempt = (step: () => Promise<void>) => step().catch((fault: unknown) => faults.push(fault));
    await attempt(async () => this.#adopt(await this.#teams.list()));
    for (const key of this.#claimable) await attempt(() => this.#claim(key));
    if (faults.length > 0) throw faults[0];
  }

  async #claim(key: string): Promise<void> {
    const reply = await storeCall('claiming wake-ups', () =>
      this.#handle.redis.xautoclaim(
        key,
        group,
        this.#consumer,
        this.#claimAfterMs,
        '0-0',
        'COUNT',
        batchSize,
      ),
    );
    await this.#relay(key, parseEntries(reply[1]));
  }

  /** Leaves no consumer behind where it has nothing in hand. */
  async #resign(): Promise<void> {
    for (const key of this.#outboxes.keys()) {
      try {
        await runScript(this.#handle, 'leave-group', [key], [group, this.#consumer]);
      } catch (error) {
        this.#log.debug({ err: error }, 'the relay leaves its name behind: Redis is away');
        return;
      }
    }
  }
}
