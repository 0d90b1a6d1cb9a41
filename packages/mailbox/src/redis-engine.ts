import { PlacetError } from '@placet/protocol';
import type { RedisEngine } from './managed-redis.ts';

/** Where and how to look for an engine (OP-2). */
export interface EngineSearch {
  /** PATH, as the environment has it. */
  path: string;
  /** Where one is unpacked, and was earlier: `.placet/engine`. */
  engineDir: string;
  /** Says what is about to be done. */
  say(line: string): void;
  /** Whether to install with brew, which changes the system; asked on a terminal. Without it brew is not used. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Finds or gets a Redis engine (OP-2): `redis-server` or `valkey-server` on PATH, one unpacked earlier, Docker, else
 * `apt-get download` without root, or brew.
 * @throws PlacetError `redis_unsuitable` that says what to install by hand
 */
export function findRedisEngine(_search: EngineSearch): Promise<RedisEngine> {
  return Promise.reject(new PlacetError('internal', 'not built yet'));
}
