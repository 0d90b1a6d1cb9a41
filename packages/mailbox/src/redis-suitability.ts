import { PlacetError } from '@placet/protocol';
import { infoField } from './durability.ts';

/** The oldest Redis that has what the scripts need, as major and minor version. */
const oldestVersion = [7, 0] as const;

/**
 * Judges a server by its answer to INFO (TM-14): version 7.0 or newer, and nothing that evicts keys.
 * Valkey says the Redis version it is compatible with.
 * @returns what is wrong with it, as PlacetError `redis_unsuitable` that says how to mend it; undefined where it will do
 */
export function judgeRedis(info: string): PlacetError | undefined {
  const version = infoField(info, 'redis_version');
  const [, major = 0, minor = 0] = /^(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  if (major < oldestVersion[0] || (major === oldestVersion[0] && minor < oldestVersion[1]))
    return unsuitable(
      `Redis ${version || 'of unknown version'} is too old: ${oldestVersion.join('.')} or newer is needed. Upgrade it, or unset PLACET_REDIS_URL to have a private one started`,
    );
  const policy = infoField(info, 'maxmemory_policy');
  if (policy !== 'noeviction')
    return unsuitable(
      `this Redis may throw keys away when its memory is full (maxmemory-policy ${policy || 'unknown'}). Set "maxmemory-policy noeviction" in its configuration, or now with: CONFIG SET maxmemory-policy noeviction`,
    );
  return undefined;
}

function unsuitable(detail: string): PlacetError {
  return new PlacetError('redis_unsuitable', detail);
}
