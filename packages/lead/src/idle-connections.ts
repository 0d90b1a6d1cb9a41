import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Knows which connections of a server have no call in flight, those that never had one included: Node takes the
 * latter for busy, and a browser that opened one in advance would hold up a stop.
 */
export class IdleConnections {
  readonly #calls = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#calls.set(socket, 0);
      socket.once('close', () => this.#calls.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
  }

  /** Closes what is idle, and from now on whatever becomes idle. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, calls] of this.#calls) if (calls === 0) socket.destroy();
  }

  #count(socket: Socket, change: 1 | -1): void {
    const calls = this.#calls.get(socket);
    if (calls === undefined) return; // it is closed
    this.#calls.set(socket, calls + change);
    if (this.#isClosing && calls + change === 0) socket.end();
  }
}
