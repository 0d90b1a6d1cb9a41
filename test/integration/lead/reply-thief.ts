import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** A way to Redis that keeps one answer for itself: what was asked for happens, and the asker is not told. */
export interface ReplyThief {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a way to Redis. `isMarked` looks at what is sent; once it says yes, nothing comes back on that connection any
 * more, and `onStolen` is called when the server has answered: by then the call has taken effect.
 */
export async function openReplyThief(
  port: number,
  { isMarked, onStolen }: { isMarked: (sent: string) => boolean; onStolen: () => void },
): Promise<ReplyThief> {
  const sockets = new Set<Socket>();
  const server = createServer((asker) => {
    const redis = createConnection({ port, host: '127.0.0.1' });
    let isStealing = false;
    for (const socket of [asker, redis]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // either side may be killed: that is what this is for
    }
    asker.on('data', (chunk) => {
      isStealing ||= isMarked(chunk.toString('latin1'));
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      if (isStealing) onStolen();
      else asker.write(chunk);
    });
    asker.on('close', () => redis.destroy());
    redis.on('close', () => asker.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `redis://127.0.0.1:${portOf(server)}`, close: () => close(server, sockets) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the thief listens on no port');
  return address.port;
}

function close(server: Server, sockets: Set<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
