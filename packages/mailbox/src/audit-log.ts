import type { TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import { keyOf } from './keys.ts';
import { storeCall } from './scripts.ts';
import { fieldOf, numberOfEntry } from './stream-entries.ts';

/** One entry of a team's audit log, as the step that it records wrote it. */
export interface AuditEntry {
  /** From 1, without gaps. */
  seq: number;
  atMs: number;
  /** JSON, byte for byte as its writer made it. */
  body: string;
}

/** A team's audit log, for reading: entries are written by the steps they record. */
export class AuditLog {
  readonly #handle: RedisHandle;

  constructor(handle: RedisHandle) {
    this.#handle = handle;
  }

  /** Entries after number `after`, in order, at most `limit`. */
  async read(team: TeamName, after: number, limit: number): Promise<AuditEntry[]> {
    const entries = await storeCall('reading the audit log', () =>
      this.#handle.redis.xrange(keyOf(team, 'audit'), `(${after}-0`, '+', 'COUNT', limit),
    );
    return entries.map(([id, fields]) => ({
      seq: numberOfEntry(id),
      atMs: Number(fieldOf(fields, 'at')),
      body: fieldOf(fields, 'b'),
    }));
  }

  /** The number of the last entry; 0 where there is none. */
  async last(team: TeamName): Promise<number> {
    const last = await storeCall('reading the last audit number', () =>
      this.#handle.redis.hget(keyOf(team, 'sequence'), 'audit'),
    );
    return Number(last ?? 0);
  }
}

/** The bytes that stand for an entry in the hash tree: number, time and body, each but the last ended by a line feed. */
export function leafBytes({ seq, atMs, body }: AuditEntry): Uint8Array {
  return new TextEncoder().encode(`${seq}\n${atMs}\n${body}`);
}
