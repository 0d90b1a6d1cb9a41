import type { Durability } from '../durability.ts';

/** What a private Redis is started with. */
export interface RedisSettings {
  dir: string;
  port: number;
  /** Left out where the path is too long for a socket. */
  socket: string | undefined;
  password: string;
  logFile: string;
  /** In `strict`, nothing is answered before it is on the disk (TM-46). */
  durability: Durability['profile'];
}

/** The configuration file of a private Redis (OP-10, 1.2): append-only, nothing evicted, for this user alone. */
export function redisSettings({ dir, port, socket, password, logFile, durability }: RedisSettings): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    ...(socket ? [`unixsocket ${quoted(socket)}`, 'unixsocketperm 600'] : []),
    `dir ${quoted(dir)}`,
    'appendonly yes',
    `appendfsync ${durability === 'strict' ? 'always' : 'everysec'}`,
    'save ""',
    'maxmemory-policy noeviction',
    `requirepass ${password}`,
    `logfile ${quoted(logFile)}`,
    'daemonize no',
    'tcp-backlog 128',
  ];
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`;
}
