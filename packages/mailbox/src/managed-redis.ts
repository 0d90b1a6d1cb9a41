import { PlacetError } from '@placet/protocol';
import type { Log } from './log.ts';

/** What to start a Redis with. */
export interface ManagedRedisOptions {
  /** The data folder; Redis has `<dataDir>/redis` to itself. */
  dataDir: string;
  log: Log;
  /** The engine of {@link findRedisEngine}. */
  engine: RedisEngine;
}

/** A program that serves the Redis protocol. */
export interface RedisEngine {
  program: string;
  version: string;
  /** Where its libraries are, if not where the system looks. */
  libraryPath?: string | undefined;
}

/** A private Redis that runs (OP-10). */
export interface ManagedRedis {
  /** `redis://:password@127.0.0.1:port`; the same for as long as the folder lives. */
  readonly url: string;
  /** The same server by its socket. */
  readonly socketUrl: string;
  readonly pid: number;
  /** Whether it was running already, under another process' care. */
  readonly adopted: boolean;
  /** Ends it, unless it is in another process' care. */
  close(): Promise<void>;
}

/**
 * Starts the private Redis of a data folder, or adopts the one that runs there; never two on one folder (OP-10).
 * @throws PlacetError `data_in_use` when another process holds the folder and no server of it answers
 */
export function startManagedRedis(_options: ManagedRedisOptions): Promise<ManagedRedis> {
  return Promise.reject(new PlacetError('internal', 'not built yet'));
}
