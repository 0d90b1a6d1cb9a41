import type { TodoMirrorRecord } from '@placet/protocol';

/** Where one session's working list is mirrored (PM-92). */
export interface TodoStorage {
  /** What is kept, as it was read; undefined where there is nothing. Whatever it throws is taken for a corrupt mirror. */
  load(): Promise<unknown>;
  /** Replaces it as a whole or not at all. */
  save(record: TodoMirrorRecord): Promise<void>;
}
