import { randomBytes } from 'node:crypto';
import {
  type Log,
  PlacetError,
  parseOrThrow,
  type SessionId,
  silentLog,
  type TodoItem,
  TodoMirrorRecord,
} from '@placet/protocol';
import { Turns } from '../plan/turns.ts';
import { judgeTodos, type TodosVerdict } from './judge-todos.ts';
import type { TodoStorage } from './todo-storage.ts';

/** What a {@link TodoList} is made of. */
export interface TodoListOptions {
  sessionId: SessionId;
  /** Where the list outlives its host. Nowhere unless set. */
  mirror?: TodoStorage;
  /** Makes the IDs of items that have none; short, for a model reads them. Eight random hex digits unless set. */
  newId?: () => string;
  /** Says nothing unless set. */
  log?: Log;
  /** Told of each new list at once, before its mirror has it. */
  onChange?: (todos: readonly TodoItem[]) => void;
}

/** What became of a write. A list whose mirror failed holds all the same, and is lost to a restart. */
export type TodoWrite =
  | { kind: 'written'; todos: readonly TodoItem[]; isMirrored: boolean }
  | Extract<TodosVerdict, { kind: 'refused' }>;

/**
 * The working list of one session (PM-90 to PM-93): text that its model keeps and people can see. Nothing executes it.
 *
 * Of several writes at once each replaces the one called before it, here and in the mirror.
 */
export class TodoList {
  readonly #options: TodoListOptions;
  readonly #log: Log;
  #todos: readonly TodoItem[] = [];
  #version = 0;
  #mirroredVersion = 0;
  readonly #mirrorings = new Turns();

  private constructor(options: TodoListOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** Takes up the list of a session. A mirror that cannot be read is logged, and the list is empty (PM-92). */
  static async open(options: TodoListOptions): Promise<TodoList> {
    const list = new TodoList(options);
    list.#todos = await list.#mirrored();
    return list;
  }

  /** The list as it is now. */
  get todos(): readonly TodoItem[] {
    return this.#todos;
  }

  /**
   * Replaces the whole list by the arguments of a `todo_write`; one that is refused leaves the list (PM-91).
   * The new list holds when the call returns its promise, which settles once the mirror was tried. Never rejects.
   */
  async replace(written: unknown): Promise<TodoWrite> {
    const verdict = judgeTodos(written, this.#options.newId ?? shortRandomId);
    if (verdict.kind === 'refused') return verdict;
    this.#todos = Object.freeze(verdict.todos.map((todo) => Object.freeze(todo)));
    this.#version += 1;
    const { todos } = this;
    this.#tell(todos);
    const version = this.#version;
    return { kind: 'written', todos, isMirrored: await this.#mirrorings.take(() => this.#save(version)) };
  }

  #tell(todos: readonly TodoItem[]): void {
    try {
      this.#options.onChange?.(todos);
    } catch (thrown) {
      this.#log.error(
        { sessionId: this.#options.sessionId, err: thrown },
        'a listener of the working list failed',
      );
    }
  }

  /** Whether the mirror has this version, or one that replaced it. Never rejects. */
  async #save(version: number): Promise<boolean> {
    const { sessionId, mirror } = this.#options;
    if (!mirror) return false;
    if (this.#mirroredVersion >= version) return true; // a later list went ahead, with this one replaced in it
    const newest = this.#version;
    try {
      await mirror.save({ version: 1, sessionId, todos: [...this.#todos] });
      this.#mirroredVersion = newest;
      return true;
    } catch (thrown) {
      this.#log.warn(
        { sessionId, err: thrown },
        'the working list could not be mirrored; a restart would lose it',
      );
      return false;
    }
  }

  async #mirrored(): Promise<readonly TodoItem[]> {
    const { sessionId, mirror } = this.#options;
    try {
      const kept = await mirror?.load();
      return kept === undefined ? [] : readMirror(sessionId, kept);
    } catch (thrown) {
      this.#log.warn(
        { sessionId, err: thrown },
        'the mirror of the working list is corrupt; the list starts empty',
      );
      return [];
    }
  }
}

/** @throws PlacetError `validation_failed` for what is no list that was ever written here. */
function readMirror(sessionId: SessionId, kept: unknown): readonly TodoItem[] {
  const record = parseOrThrow(TodoMirrorRecord, kept, 'the mirror');
  if (record.sessionId !== sessionId)
    throw new PlacetError('validation_failed', `the mirror is of session ${record.sessionId}`);
  const { todos } = record;
  const verdict = judgeTodos({ todos }, shortRandomId);
  if (verdict.kind === 'refused') throw new PlacetError('validation_failed', verdict.error_code, verdict);
  return verdict.todos;
}

function shortRandomId(): string {
  return randomBytes(4).toString('hex');
}
