import { createWriteStream, type WriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

const maxLogBytes = 1024 * 1024;
const tailChars = 2000;

/** Keeps what an agent writes: the first MiB in a private file, and the last lines for whoever asks why it failed. */
export class OutputLog {
  readonly #file: WriteStream;
  #bytes = 0;
  #tail = '';

  /** Appends to `path` (0600). */
  constructor(path: string) {
    this.#file = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#file.on('error', () => undefined); // a log that cannot be written must not end the work
  }

  /** Reads a stream to its end, whatever it has to say. */
  take(stream: Readable): void {
    stream.on('error', () => undefined); // its end is what matters
    stream.on('data', (chunk: Buffer) => {
      this.#tail = (this.#tail + chunk.toString()).slice(-tailChars);
      const room = maxLogBytes - this.#bytes;
      if (room <= 0) return;
      this.#bytes += chunk.length;
      this.#file.write(chunk.subarray(0, room));
      if (chunk.length >= room) this.#file.write('\n[the rest was cut off]\n');
    });
  }

  /** The end of what was written, in one piece of at most 2,000 characters. */
  tail(): string {
    return this.#tail.trim();
  }

  async close(): Promise<void> {
    this.#file.end();
    await finished(this.#file).catch(() => undefined); // as above
  }
}
