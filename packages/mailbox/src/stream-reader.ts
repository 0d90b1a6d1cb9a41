import { BlockingReader } from './blocking-reader.ts';
import type { StreamReaderOptions } from './stream-reader-options.ts';
import { SweepingReader } from './sweeping-reader.ts';

/**
 * Reads any number of streams and survives the loss of Redis. The one place that chooses how (ST-8): on a single server
 * by a blocking command; in a Cluster, where that covers one slot, by hints and a sweep each second.
 */
export class StreamReader {
  readonly #reader: BlockingReader | SweepingReader;

  constructor(options: StreamReaderOptions) {
    const { hints } = options.handle;
    this.#reader = hints ? new SweepingReader(options, hints) : new BlockingReader(options);
  }

  start(): void {
    this.#reader.start();
  }

  /** Has the reader ask for its keys again, now. */
  poke(): void {
    this.#reader.poke();
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
