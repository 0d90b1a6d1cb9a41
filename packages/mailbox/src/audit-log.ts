import { PlacetError, type TeamName } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';

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
  constructor(_handle: RedisHandle) {}

  /** Entries after number `after`, in order, at most `limit`. */
  read(_team: TeamName, _after: number, _limit: number): Promise<AuditEntry[]> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }

  /** The number of the last entry; 0 where there is none. */
  last(_team: TeamName): Promise<number> {
    return Promise.reject(new PlacetError('internal', 'not built yet'));
  }
}

/** The bytes that stand for an entry in the hash tree: number, time and body, each but the last ended by a line feed. */
export function leafBytes({ seq, atMs, body }: AuditEntry): Uint8Array {
  return new TextEncoder().encode(`${seq}\n${atMs}\n${body}`);
}
