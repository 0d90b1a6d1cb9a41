import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { decisionType } from '@placet/protocol';
import { z } from 'zod';

const Header = z.looseObject({ typ: z.string() });
const Claims = z.looseObject({ requestId: z.string() });

/** Watches everything that is sent to a Redis for signed decisions, as somebody with MONITOR can. */
export class TrafficWatch {
  readonly #monitor: Socket;
  readonly #marker: Socket;
  readonly #signatures = new Map<string, Set<string>>();
  readonly #marks = new Map<string, () => void>();

  private constructor(port: number) {
    this.#monitor = createConnection({ port, host: '127.0.0.1' });
    this.#marker = createConnection({ port, host: '127.0.0.1' });
    this.#marker.resume();
    for (const socket of [this.#monitor, this.#marker]) socket.on('error', () => undefined); // the test ends by itself
    createInterface({ input: this.#monitor }).on('line', (line) => this.#take(line));
  }

  static async start(port: number): Promise<TrafficWatch> {
    const watch = new TrafficWatch(port);
    watch.#monitor.write('MONITOR\r\n');
    await once(watch.#monitor, 'data');
    return watch;
  }

  /** The signed decisions of a request that were seen, once all that was sent before the call is. */
  async signaturesOf(requestId: string): Promise<string[]> {
    const mark = `mark-${performance.now()}`;
    const isSeen = new Promise<void>((resolve) => this.#marks.set(mark, resolve));
    this.#marker.write(`ECHO ${mark}\r\n`);
    await isSeen;
    return [...(this.#signatures.get(requestId) ?? [])];
  }

  close(): void {
    this.#monitor.destroy();
    this.#marker.destroy();
  }

  #take(line: string): void {
    for (const [mark] of line.matchAll(/mark-[\d.]+/g)) this.#marks.get(mark)?.();
    for (const [jws] of line.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g)) {
      const [header, payload] = jws.split('.').map(jsonOf);
      const claims = Claims.safeParse(payload);
      if (Header.safeParse(header).data?.typ !== decisionType || !claims.success) continue;
      const { requestId } = claims.data;
      this.#signatures.set(requestId, (this.#signatures.get(requestId) ?? new Set()).add(jws));
    }
  }
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
}
