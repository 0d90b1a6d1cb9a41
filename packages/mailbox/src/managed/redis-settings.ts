/** What a private Redis is started with. */
export interface RedisSettings {
  dir: string;
  port: number;
  /** Left out where the path is too long for a socket. */
  socket: string | undefined;
  password: string;
  logFile: string;
}

/** The configuration file of a private Redis (OP-10, 1.2): append-only, nothing evicted, for this user alone. */
export function redisSettings({ dir, port, socket, password, logFile }: RedisSettings): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    ...(socket ? [`unixsocket ${quoted(socket)}`, 'unixsocketperm 600'] : []),
    `dir ${quoted(dir)}`,
    'appendonly yes',
    'appendfsync everysec',
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
