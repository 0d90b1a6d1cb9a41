import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '@placet/protocol';
import type { Durability } from './durability.ts';
import { RedisKeeper } from './managed/redis-keeper.ts';
import { ensurePrivateFolder } from './signing/private-files.ts';

/** What serves the Redis protocol: a program, or an image where only Docker is to be had. */
export type RedisEngine =
  | {
      kind: 'program';
      /** The absolute path. */
      program: string;
      version: string;
      /** Where its libraries are, if not where the system looks. */
      libraryPath?: string | undefined;
    }
  | { kind: 'docker'; program: string; image: string };

/** What to start a Redis with. */
export interface ManagedRedisOptions {
  /** The data folder; Redis has `<dataDir>/redis` to itself. */
  dataDir: string;
  log: Log;
  /** The engine of {@link findRedisEngine}. */
  engine: RedisEngine;
  /** `standard` unless set (TM-46); a server that is adopted keeps its own. */
  durability?: Durability['profile'] | undefined;
  /** How long to wait for another process to let go of the folder, in milliseconds; 10,000 unless set. */
  patienceMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A private Redis that runs (OP-10). Should it die, it is started again on the same port with the same password. */
export interface ManagedRedis {
  /** `redis://:password@127.0.0.1:port` */
  readonly url: string;
  /** The same server by its socket; by its port where the folder's path is too long for one. */
  readonly socketUrl: string;
  readonly pid: number;
  /** Whether it was running already, in the care of another process: then it is not ours to end. */
  readonly adopted: boolean;
  /** Ends it, unless it is in another process' care. */
  close(): Promise<void>;
}

/**
 * Starts the private Redis of a data folder, or adopts the one that runs there; never two on one folder (OP-10). It
 * ends with this process, however that ends.
 * @throws PlacetError `data_in_use` when another process holds the folder and no server of it answers
 * @throws PlacetError `redis_unsuitable` when the engine does not start, with the last it said
 */
export async function startManagedRedis(options: ManagedRedisOptions): Promise<ManagedRedis> {
  const dir = join(resolve(options.dataDir), 'redis');
  await mkdir(options.dataDir, { recursive: true });
  await ensurePrivateFolder(dir);
  const keeper = new RedisKeeper(dir, options);
  await keeper.open();
  return keeper;
}
