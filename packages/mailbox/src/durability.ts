import { PlacetError } from '@placet/protocol';
import type { RedisClient } from './redis-client.ts';

/** What must be true before a write counts as done (TM-46). */
export interface Durability {
  profile: 'standard' | 'strict';
  /** How many replicas must acknowledge each write; only of profile `strict`. */
  replicas: number;
}

/** What a server really gives, whatever anybody configured. */
export interface GivenDurability {
  appendOnly: boolean;
  /** `always`, `everysec` or `no`; undefined where CONFIG is not allowed. */
  fsync: string | undefined;
  /** The replicas that follow it now. */
  replicas: number;
  /** The last write of the append-only file failed. */
  writeFailed: boolean;
}

/** Asks a server what it gives; `info` is its answer to INFO. */
export async function readDurability(
  redis: Pick<RedisClient, 'config'>,
  info: string,
): Promise<GivenDurability> {
  return {
    appendOnly: infoField(info, 'aof_enabled') === '1',
    fsync: await fsyncOf(redis),
    replicas: [...info.matchAll(/^slave\d+:.*state=online/gm)].length,
    writeFailed: infoField(info, 'aof_last_write_status') === 'err',
  };
}

/**
 * Judges whether a server's own settings are those of profile `strict`. Replicas that are away are no fault of it: they
 * may come, and until then each write is answered `not_durable`.
 * @returns what is wrong, as PlacetError `redis_unsuitable` that says how to mend it; undefined where it will do
 */
export function judgeStrict({ appendOnly, fsync }: GivenDurability): PlacetError | undefined {
  if (!appendOnly)
    return unsuitable('is not append-only', 'CONFIG SET appendonly yes, and the same in its configuration');
  if (fsync === undefined)
    return unsuitable('does not say how it syncs', 'allow this user the command CONFIG GET');
  if (fsync !== 'always')
    return unsuitable(
      `syncs its file ${fsync === 'no' ? 'when the system likes' : 'once a second'} (appendfsync ${fsync})`,
      'CONFIG SET appendfsync always, and the same in its configuration',
    );
  return undefined;
}

/** A field of the answer to INFO; the empty text where there is none. */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
}

function unsuitable(what: string, mend: string): PlacetError {
  return new PlacetError(
    'redis_unsuitable',
    `durability is strict, but this Redis ${what}. Mend it with: ${mend}; or set durability to standard`,
  );
}

async function fsyncOf(redis: Pick<RedisClient, 'config'>): Promise<string | undefined> {
  try {
    const answer: unknown = await redis.config('GET', 'appendfsync');
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
  } catch (error) {
    // Hosted servers do not let it be asked; anything else is no answer at all.
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw error;
  }
}
