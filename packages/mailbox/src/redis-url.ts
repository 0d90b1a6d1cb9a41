import { PlacetError } from '@placet/protocol';
import type { RedisOptions } from 'ioredis';

/** A host and its port. */
export interface RedisNode {
  host: string;
  port: number;
}

/** What a URL of Redis names: one server (or the master that Sentinels name), or the nodes by which a Cluster is found. */
export type RedisPlace =
  | { kind: 'server'; options: RedisOptions }
  | { kind: 'cluster'; nodes: RedisNode[]; options: Pick<RedisOptions, 'username' | 'password' | 'tls'> };

const defaultPort = 6379;
const defaultSentinelPort = 26_379;
const schemes = 'redis://, rediss://, unix://, redis+cluster://, rediss+cluster:// or redis+sentinel://';

/**
 * Reads `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS), `unix:///path[?password=…&username=…&db=N]`,
 * `redis+cluster://[user:password@]h1[:p1],h2[:p2],…` (`rediss+cluster://` with TLS), or
 * `redis+sentinel://[user:password@]h1[:p1],h2[:p2],…/masterName[?db=N&sentinelUsername=…&sentinelPassword=…]`.
 * Nothing else of a URL becomes an option, so that a URL cannot switch off what keeps the promises.
 * @throws PlacetError `config_invalid`, without the password in its text
 */
export function parseRedisUrl(url: string): RedisPlace {
  const [scheme = ''] = url.split('://', 1);
  switch (scheme) {
    case 'unix':
      return { kind: 'server', options: parseSocket(url) };
    case 'redis':
    case 'rediss':
      return { kind: 'server', options: parseServer(url) };
    case 'redis+cluster':
    case 'rediss+cluster':
      return parseCluster(url);
    case 'redis+sentinel':
      return { kind: 'server', options: parseSentinel(url) };
    default:
      throw invalid(`must start with ${schemes}`);
  }
}

/** The URL as it may be printed: without its passwords. */
export function maskRedisUrl(url: string): string {
  return url.replace(/(:\/\/[^/@:]*:).*@/, '$1***@').replace(/([?&](?:sentinel)?password=)[^&]*/gi, '$1***');
}

function parseServer(url: string): RedisOptions {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) throw invalid(`must start with ${schemes} and be well-formed`);
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: parsed.port === '' ? defaultPort : Number(parsed.port),
    ...credentials(decode(parsed.username), decode(parsed.password)),
    db: database(parsed.pathname.slice(1)),
    ...(parsed.protocol === 'rediss:' && { tls: { servername: parsed.hostname } }),
  };
}

function parseSocket(url: string): RedisOptions {
  const [path = '', query = ''] = url.slice('unix://'.length).split('?', 2);
  if (!path.startsWith('/'))
    throw new PlacetError('config_invalid', 'a unix:// URL of Redis needs the absolute path of the socket');
  const parameters = new URLSearchParams(query);
  return {
    path: decode(path),
    ...credentials(parameters.get('username') ?? '', parameters.get('password') ?? ''),
    db: database(parameters.get('db') ?? ''),
  };
}

function parseCluster(url: string): RedisPlace {
  const { nodes, login, path, parameters } = parseNodes(url, defaultPort);
  if (path !== '' || [...parameters].length > 0)
    throw invalid('names a Cluster, which has no databases and takes no parameters');
  // The name that a certificate is checked against is the host's, for each node its own.
  return { kind: 'cluster', nodes, options: { ...login, ...(url.startsWith('rediss') && { tls: {} }) } };
}

function parseSentinel(url: string): RedisOptions {
  const { nodes, login, path, parameters } = parseNodes(url, defaultSentinelPort);
  if (!/^[\w.-]+$/.test(path))
    throw invalid('names Sentinels and must end with the name of their master: redis+sentinel://h1,h2/name');
  const sentinelUsername = parameters.get('sentinelUsername') ?? '';
  const sentinelPassword = parameters.get('sentinelPassword') ?? '';
  return {
    sentinels: nodes,
    name: path,
    role: 'master',
    ...login,
    ...(sentinelUsername !== '' && { sentinelUsername }),
    ...(sentinelPassword !== '' && { sentinelPassword }),
    db: database(parameters.get('db') ?? ''),
  };
}

/** Reads what follows `://` where several hosts may stand, which no URL parser takes. */
function parseNodes(url: string, port: number) {
  const rest = url.slice(url.indexOf('://') + 3);
  const [, user, password, hosts = '', path = '', query = ''] =
    /^(?:([^:@/]*)(?::([^@/]*))?@)?([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(rest) ?? [];
  const nodes = hosts.split(',').map((host) => parseNode(host, port));
  return {
    nodes,
    login: credentials(decode(user ?? ''), decode(password ?? '')),
    path: decode(path),
    parameters: new URLSearchParams(query),
  };
}

function parseNode(text: string, defaultTo: number): RedisNode {
  const [, six, name, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = six ?? name;
  const number = port === undefined ? defaultTo : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw invalid('must name its hosts as host:port, with commas between them');
  return { host, port: number };
}

function credentials(username: string, password: string) {
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function database(text: string): number {
  if (text === '') return 0;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new PlacetError('config_invalid', 'the database in the Redis URL must be a number');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('has a % that is not followed by two hex digits'); // what it says may be part of the password
  }
}

function invalid(what: string): PlacetError {
  return new PlacetError('config_invalid', `the Redis URL ${what}`);
}
