import { connectRedis, judgeRedis, type RedisHandle } from '@placet/mailbox';
import { PlacetError } from '@placet/protocol';
import { examine, type Finding, ok, wrong } from './finding.ts';

/** How far clocks may be apart before it is said, in milliseconds. */
export const tolerableSkewMs = 2000;

/** Checks the store: that it answers, its version, eviction, persistence, and its clock. */
export async function checkRedis(url: string, timeoutMs: number): Promise<Finding[]> {
  const handle = connectRedis({ url, name: 'placet-doctor', timeoutMs });
  try {
    return await examine('redis', 'start it with placet up, or check redisUrl', async () => {
      await answersWithin(handle, timeoutMs * 2);
      const info = await handle.redis.info();
      return [...judge(info), ...durability(info, await fsyncOf(handle)), await clock(handle)];
    });
  } finally {
    await handle.close();
  }
}

async function answersWithin(handle: RedisHandle, ms: number): Promise<void> {
  const tooLate = AbortSignal.timeout(ms);
  try {
    await handle.ready(tooLate);
  } catch (error) {
    if (tooLate.aborted) throw new PlacetError('store_unavailable', `Redis does not answer within ${ms} ms`);
    throw error;
  }
}

function judge(info: string): Finding[] {
  const version = field(info, 'valkey_version') || field(info, 'redis_version');
  const fault = judgeRedis(info);
  if (fault) return [wrong('fault', 'redis', fault.message, 'see above; placet refuses to start on it')];
  return [ok('redis', `version ${version}, maxmemory-policy ${field(info, 'maxmemory_policy')}`)];
}

/** What the server really gives, whatever anybody configured (TM-46). */
function durability(info: string, fsync: string | undefined): Finding[] {
  if (field(info, 'aof_enabled') !== '1')
    return [
      wrong(
        'fault',
        'persistence',
        'append-only is off: a restart of Redis loses what was acknowledged',
        'CONFIG SET appendonly yes, and "appendonly yes" in its configuration file',
      ),
    ];
  if (field(info, 'aof_last_write_status') === 'err')
    return [
      wrong(
        'fault',
        'persistence',
        'the last write of the append-only file failed',
        'look at the disk: full, or read-only?',
      ),
    ];
  if (fsync === 'always') return [ok('persistence', 'append-only, fsync always (profile strict)')];
  if (fsync === 'no')
    return [
      wrong(
        'warning',
        'persistence',
        'append-only without fsync: a crash of the machine loses seconds',
        'CONFIG SET appendfsync everysec',
      ),
    ];
  return [
    ok('persistence', `append-only, fsync ${fsync ?? 'unknown (CONFIG is not allowed)'} (profile standard)`),
  ];
}

async function fsyncOf({ redis }: RedisHandle): Promise<string | undefined> {
  try {
    const answer: unknown = await redis.config('GET', 'appendfsync');
    return Array.isArray(answer) ? String(answer[1]) : undefined;
  } catch {
    return undefined; // managed servers do not let it be asked; INFO said the rest
  }
}

async function clock({ redis }: RedisHandle): Promise<Finding> {
  const before = Date.now();
  const [seconds, micros] = await redis.time();
  const skewMs = Number(seconds) * 1000 + Number(micros) / 1000 - (before + Date.now()) / 2;
  const detail = `Redis' clock is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  if (Math.abs(skewMs) <= tolerableSkewMs) return ok('clock', detail);
  return wrong(
    'warning',
    'clock',
    detail,
    "synchronise both by NTP: deadlines run on Redis' clock, tokens on the lead's",
  );
}

function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
