import {
  connectRedis,
  type GivenDurability,
  judgeRedis,
  judgeStrict,
  type RedisHandle,
  type RedisMaster,
  readDurability,
} from '@placet/mailbox';
import { type Config, PlacetError } from '@placet/protocol';
import { examine, type Finding, ok, wrong } from './finding.ts';

/** How far clocks may be apart before it is said, in milliseconds. */
export const tolerableSkewMs = 2000;

type RedisConfig = Pick<Config, 'storeTimeoutMs' | 'durability' | 'replicas'>;

/** Checks the store: that it answers, its version, eviction, persistence, replicas, and its clock. */
export async function checkRedis(url: string, config: RedisConfig): Promise<Finding[]> {
  const timeoutMs = config.storeTimeoutMs;
  const handle = connectRedis({ url, name: 'placet-doctor', timeoutMs });
  try {
    return await examine('redis', 'start it with placet up, or check redisUrl', async () => {
      await answersWithin(handle, timeoutMs * 2);
      const masters = await Promise.all(handle.masters().map((master) => checkMaster(master, config)));
      return [...masters.flat(), ...(handle.hints ? clusterReplicas(config) : [])];
    });
  } finally {
    await handle.close();
  }
}

async function checkMaster({ name, redis }: RedisMaster, config: RedisConfig): Promise<Finding[]> {
  const info = await redis.info();
  const given = await readDurability(redis, info);
  const waitsForReplicas = name === undefined;
  const findings = [
    ...judge(info),
    persistence(given, config),
    ...(waitsForReplicas ? replicas(given, config) : []),
    await clock(redis),
  ];
  if (name === undefined) return findings;
  return findings.map((finding) => ({ ...finding, detail: `${name}: ${finding.detail}` }));
}

/** In a Cluster nothing can wait for replicas. */
function clusterReplicas({ durability, replicas: count }: RedisConfig): Finding[] {
  if (durability === 'standard' || count === 0) return [];
  return [
    wrong(
      'fault',
      'replicas',
      `${count} must acknowledge each write, but in a Cluster none is waited for; placet refuses to start on it`,
      'set replicas to 0, or use Sentinel (redis+sentinel://)',
    ),
  ];
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
function persistence(given: GivenDurability, { durability }: RedisConfig): Finding {
  const { appendOnly, fsync, writeFailed } = given;
  if (!appendOnly)
    return wrong(
      'fault',
      'persistence',
      'append-only is off: a restart of Redis loses what was acknowledged',
      'CONFIG SET appendonly yes, and "appendonly yes" in its configuration file',
    );
  if (writeFailed)
    return wrong(
      'fault',
      'persistence',
      'the last write of the append-only file failed',
      'look at the disk: full, or read-only?',
    );
  const tooLittle = durability === 'strict' ? judgeStrict(given) : undefined;
  if (tooLittle)
    return wrong('fault', 'persistence', tooLittle.message, 'see above; placet refuses to start on it');
  if (fsync === 'always') return ok('persistence', 'append-only, fsync always (gives profile strict)');
  if (fsync === 'no')
    return wrong(
      'warning',
      'persistence',
      'append-only without fsync: a crash of the machine loses seconds',
      'CONFIG SET appendfsync everysec',
    );
  return ok(
    'persistence',
    `append-only, fsync ${fsync ?? 'unknown (CONFIG is not allowed)'} (gives profile standard)`,
  );
}

/** Only profile `strict` waits for replicas. */
function replicas(given: GivenDurability, config: RedisConfig): Finding[] {
  const found = `${given.replicas} follow it, ${config.replicas} must acknowledge each write`;
  if (config.durability === 'strict') {
    if (given.replicas >= config.replicas) return [ok('replicas', found)];
    return [
      wrong(
        'fault',
        'replicas',
        `${found}: every write is answered not_durable`,
        'start them with "replicaof"; their logs and INFO replication say what keeps them',
      ),
    ];
  }
  if (config.replicas === 0) return [];
  return [
    wrong(
      'warning',
      'replicas',
      `${config.replicas} are configured, but durability is standard: nothing waits for them`,
      'set durability to strict, or replicas to 0',
    ),
  ];
}

async function clock(redis: RedisMaster['redis']): Promise<Finding> {
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
