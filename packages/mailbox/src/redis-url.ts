import { PlacetError } from '@placet/protocol';
import type { RedisOptions } from 'ioredis';

/**
 * Reads `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS) or `unix:///path[?password=…&username=…&db=N]`.
 * Nothing else of a URL becomes an option, so that a URL cannot switch off what keeps the promises.
 * @throws PlacetError `config_invalid`, without the password in its text
 */
export function parseRedisUrl(url: string): RedisOptions {
  if (url.startsWith('unix://')) return parseSocket(url);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol))
    throw new PlacetError(
      'config_invalid',
      'the Redis URL must start with redis://, rediss:// or unix:// and be well-formed',
    );
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: parsed.port === '' ? 6379 : Number(parsed.port),
    ...credentials(decodeURIComponent(parsed.username), decodeURIComponent(parsed.password)),
    db: database(parsed.pathname.slice(1)),
    ...(parsed.protocol === 'rediss:' && { tls: { servername: parsed.hostname } }),
  };
}

/** The URL as it may be printed: without its password. */
export function maskRedisUrl(url: string): string {
  return url.replace(/(\/\/[^/@]*:)[^@/]*@/, '$1***@').replace(/([?&]password=)[^&]*/, '$1***');
}

function parseSocket(url: string): RedisOptions {
  const [path = '', query = ''] = url.slice('unix://'.length).split('?', 2);
  if (!path.startsWith('/'))
    throw new PlacetError('config_invalid', 'a unix:// URL of Redis needs the absolute path of the socket');
  const parameters = new URLSearchParams(query);
  return {
    path: decodeURIComponent(path),
    ...credentials(parameters.get('username') ?? '', parameters.get('password') ?? ''),
    db: database(parameters.get('db') ?? ''),
  };
}

function credentials(username: string, password: string): RedisOptions {
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function database(text: string): number {
  if (text === '') return 0;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new PlacetError('config_invalid', 'the database in the Redis URL must be a number');
}
