import { describe, expect, it } from 'vitest';
import { maskRedisUrl, parseRedisUrl } from './redis-url.ts';

describe('the URL of Redis', () => {
  it.each([
    ['redis://example.org', { host: 'example.org', port: 6379, db: 0 }],
    ['redis://u:p%40ss@[::1]:7000/3', { host: '::1', port: 7000, username: 'u', password: 'p@ss', db: 3 }],
    ['redis://:secret@127.0.0.1:1', { host: '127.0.0.1', port: 1, password: 'secret', db: 0 }],
    ['rediss://example.org', { host: 'example.org', port: 6379, db: 0, tls: { servername: 'example.org' } }],
    ['unix:///run/a%20b.sock?password=x%26y&db=2', { path: '/run/a b.sock', password: 'x&y', db: 2 }],
  ])('%s', (url, options) => {
    expect(parseRedisUrl(url)).toEqual(options);
  });

  it('sets no option of the client beyond how to reach the server', () => {
    const url = 'redis://example.org?enableOfflineQueue=true&commandTimeout=0';
    expect(Object.keys(parseRedisUrl(url)).sort()).toEqual(['db', 'host', 'port']);
  });

  it.each(['http://example.org', 'redis//x', 'unix://relative', 'redis://h/x', ''])('refuses %j', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it.each(['redis://u:secret@h/1', 'unix:///s?password=secret&db=1', 'redis://:secret@h'])(
    '[IN-24] is printed without its password: %s',
    (url) => {
      expect(maskRedisUrl(url)).not.toContain('secret');
    },
  );

  it('names no password in its error', () => {
    expect(() => parseRedisUrl('http://:secret@h')).toThrow(/^(?!.*secret)/);
  });
});
