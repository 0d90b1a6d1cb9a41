import type { Log } from '@placet/protocol';
import type { RedisHandle } from './connection.ts';
import type { StreamEntry } from './stream-entries.ts';

/** What a reader of streams is made of. */
export interface StreamReaderOptions {
  handle: RedisHandle;
  log: Log;
  /** Said in the log. */
  what: string;
  /** Reads for a consumer group; without it, plainly. */
  group?: { name: string; consumer: string } | undefined;
  /** How many entries of a stream are read at once. */
  count: number;
  /** The keys to read; asked before each read. A key that was left out once is new when it is named again. */
  keys: () => readonly string[];
  /** The key of a team's stream. */
  keyOfTeam: (team: string) => string;
  /** The id to read a key after (`>` for a group); undefined where it is not to be read now. */
  after: (key: string) => string | undefined;
  /** Awaited before the next read of this key. When it throws, the key is resumed as after a failure. */
  onEntries: (key: string, entries: StreamEntry[]) => Promise<void> | void;
  /** Before the first read of anything, and after the connection was lost. */
  onStart?: (() => Promise<void>) | undefined;
  /** Before the first read of a key, and again after every failure: what was missed is to be made up here. */
  onResume: (key: string) => Promise<void>;
}
