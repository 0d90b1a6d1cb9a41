import { describe, expect, it } from 'vitest';
import { judgeRedis } from './redis-suitability.ts';

const info = (version: string, policy: string) =>
  `# Server\r\nredis_version:${version}\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:${policy}\r\n`;

describe('a Redis that is to be used', () => {
  it.each(['7.0.0', '7.0.15', '7.2.4', '8.2.1', '10.0.0'])('[TM-14] may be %s', (version) => {
    expect(judgeRedis(info(version, 'noeviction'))).toBeUndefined();
  });

  it.each(['6.2.14', '5.0.7', '', 'unknown'])('[TM-14] may not be %j', (version) => {
    expect(judgeRedis(info(version, 'noeviction'))).toMatchObject({ code: 'redis_unsuitable' });
  });

  it.each(['allkeys-lru', 'volatile-ttl', ''])(
    '[TM-14] may not evict by %j, and is told how to stop',
    (policy) => {
      expect(judgeRedis(info('7.2.4', policy))).toMatchObject({
        code: 'redis_unsuitable',
        message: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
      });
    },
  );
});
