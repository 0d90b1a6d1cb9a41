import { describe, expect, it } from 'vitest';
import { maskRedisUrl, parseRedisUrl } from './redis-url.ts';

const nodes = [
  { host: 'a', port: 7000 },
  { host: '::1', port: 6379 },
];

describe('the URL of Redis', () => {
  it.each([
    ['redis://example.org', { host: 'example.org', port: 6379, db: 0 }],
    ['redis://u:p%40ss@[::1]:7000/3', { host: '::1', port: 7000, username: 'u', password: 'p@ss', db: 3 }],
    ['redis://:secret@127.0.0.1:1', { host: '127.0.0.1', port: 1, password: 'secret', db: 0 }],
    ['rediss://example.org', { host: 'example.org', port: 6379, db: 0, tls: { servername: 'example.org' } }],
    ['unix:///run/a%20b.sock?password=x%26y&db=2', { path: '/run/a b.sock', password: 'x&y', db: 2 }],
  ])('%s', (url, options) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'server', options });
  });

  it.each([
    ['redis+cluster://a:7000,[::1]', {}],
    ['redis+cluster://u:p%40ss@a:7000,[::1]/', { username: 'u', password: 'p@ss' }],
    ['rediss+cluster://:secret@a:7000,[::1]', { password: 'secret', tls: {} }],
  ])('[ST-8] of a Cluster names the nodes to begin with: %s', (url, options) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'cluster', nodes, options });
  });

  it.each([
    ['redis+sentinel://a,b:1/main', { db: 0 }],
    ['redis+sentinel://:secret@a,b:1/main?db=2', { db: 2, password: 'secret' }],
    [
      'redis+sentinel://a,b:1/main?sentinelUsername=s&sentinelPassword=x%26y',
      { db: 0, sentinelUsername: 's', sentinelPassword: 'x&y' },
    ],
  ])('[OP-4] of Sentinels names them and their master: %s', (url, options) => {
    const sentinels = [
      { host: 'a', port: 26_379 },
      { host: 'b', port: 1 },
    ];
    const whole = { sentinels, name: 'main', role: 'master', ...options };
    expect(parseRedisUrl(url)).toEqual({ kind: 'server', options: whole });
  });

  it('sets no option of the client beyond how to reach the server', () => {
    const query = '?enableOfflineQueue=true&commandTimeout=0&role=slave';
    expect(Object.keys(parseRedisUrl(`redis://example.org${query}`).options).sort()).toEqual([
      'db',
      'host',
      'port',
    ]);
    expect(parseRedisUrl(`redis+sentinel://a/main${query}`).options).toEqual({
      sentinels: [{ host: 'a', port: 26_379 }],
      name: 'main',
      role: 'master',
      db: 0,
    });
  });

  it.each([
    'http://example.org',
    'redis//x',
    'unix://relative',
    'redis://h/x',
    'redis://%zz@h',
    '',
    'redis+cluster://',
    'redis+cluster://a,,b',
    'redis+cluster://a:b',
    'redis+cluster://a:70000',
    'redis+cluster://a:0',
    'redis+cluster://a/1',
    'redis+cluster://a?scaleReads=slave',
    'redis+cluster://u:secret@x@a',
    'redis+sentinel://a:1',
    'redis+sentinel://a:1/',
    'redis+sentinel://a/main?db=x',
    'redis+sentinel://a/ma in',
    'rediss+sentinel://a/main',
    'redis+other://a',
  ])('[WR-41] refuses %j', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it.each([
    'redis://u:secret@h/1',
    'redis://u:secret:secret@h/1',
    'unix:///s?password=secret&db=1',
    'redis://:secret@h',
    'redis+cluster://u:secret@a:1,b:2',
    'redis+cluster://u:secret/secret@a:1,b:2',
    'redis+sentinel://:secret@a:1,b:2/main?db=1&sentinelUsername=u&sentinelPassword=secret&x=1',
  ])('[IN-24] is printed without its password: %s', (url) => {
    expect(maskRedisUrl(url)).not.toContain('secret');
  });

  it.each(['http://:secret@h', 'redis+cluster://u:secret@a,', 'redis+sentinel://:secret%@a/main'])(
    'names no password in its error: %s',
    (url) => {
      expect(() => parseRedisUrl(url)).toThrow(/^(?!.*secret)/);
    },
  );
});
