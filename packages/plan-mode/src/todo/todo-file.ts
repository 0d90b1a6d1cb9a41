import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { digestOfText, PlacetError, type SessionId, type TodoMirrorRecord } from '@placet/protocol';
import { replaceFile } from '../plan/replace-file.ts';
import type { TodoStorage } from './todo-storage.ts';

/** The largest mirror that is read: more than any list can take. In bytes. */
const maxMirrorBytes = 256 * 1024;

/**
 * The mirror of a session's working list as a JSON file (PM-92). Each session has one of its own, so that no other
 * disturbs it; writes are whole or not at all, mode 0600. Two processes that hold the same session leave the list of one.
 */
export class TodoFile implements TodoStorage {
  readonly path: string;

  /**
   * `folder` is absolute; it is made, private, when something is written.
   * @throws PlacetError `validation_failed` for a folder that is not absolute.
   */
  constructor(folder: string, sessionId: SessionId) {
    if (!isAbsolute(folder))
      throw new PlacetError(
        'validation_failed',
        `the folder of working lists, ${JSON.stringify(folder)}, is not absolute`,
      );
    this.path = join(folder, nameOf(sessionId));
  }

  /** @throws the system's error, or a `SyntaxError`, for what is there and is no JSON file of that size. */
  async load(): Promise<unknown> {
    const text = await this.#read();
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** @throws the system's error; what was there stays. */
  async save(record: TodoMirrorRecord): Promise<void> {
    await replaceFile(this.path, `${JSON.stringify(record)}\n`);
  }

  async #read(): Promise<string | undefined> {
    // Without O_NONBLOCK a pipe in its place would hold a start for ever.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(this.path, flags).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'ENOENT') throw thrown;
      return undefined;
    });
    if (!file) return undefined;
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > maxMirrorBytes)
        throw new PlacetError(
          'validation_failed',
          `${this.path} is no file of at most ${maxMirrorBytes} bytes`,
        );
      const bytes = new Uint8Array(stats.size); // what is added meanwhile is not read
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }
}

/** A digest, for an ID can hold what no file's name can, and file systems may ignore case. */
function nameOf(sessionId: SessionId): string {
  return `todos-${digestOfText(sessionId).slice('sha256:'.length, 'sha256:'.length + 32)}.json`;
}
