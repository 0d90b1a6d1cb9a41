import type { TodoItem, TodoMirrorRecord } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { TodoList, type TodoListOptions } from './todo-list.ts';
import type { TodoStorage } from './todo-storage.ts';

const sessionId = 'session-1';
const list = (...contents: string[]) => ({
  todos: contents.map((content) => ({ id: content, content, status: 'pending' })),
});
const contentsOf = (todos: readonly TodoItem[]) => todos.map(({ content }) => content);

/** A mirror in memory whose writes wait until they are let through. */
class SlowMirror implements TodoStorage {
  kept: unknown;
  readonly saves: string[][] = [];
  #waiting: (() => void)[] = [];

  async load(): Promise<unknown> {
    return this.kept;
  }

  async save(record: TodoMirrorRecord): Promise<void> {
    this.saves.push(contentsOf(record.todos));
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.kept = record;
  }

  async let(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      for (const go of this.#waiting.splice(0)) go();
      await new Promise(setImmediate);
    }
  }
}

function logged(): { log: NonNullable<TodoListOptions['log']>; lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  return {
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    lines,
  };
}

describe('the working list', () => {
  it('[PM-90] is replaced as a whole', async () => {
    const todos = await TodoList.open({ sessionId });
    await todos.replace(list('a', 'b', 'c'));
    expect(await todos.replace(list('d'))).toMatchObject({ kind: 'written', isMirrored: false });
    expect(contentsOf(todos.todos)).toEqual(['d']);
    await todos.replace(list());
    expect(todos.todos).toEqual([]);
  });

  it('[PM-91] stays as it was where a write is refused, in the mirror too', async () => {
    const mirror = memory();
    const heard: number[] = [];
    const todos = await TodoList.open({ sessionId, mirror, onChange: ({ length }) => heard.push(length) });
    await todos.replace(list('a', 'b'));
    const [kept] = [mirror.kept];

    const good = { content: 'c', status: 'pending' };
    expect(await todos.replace({ todos: [good, { ...good, content: '' }] })).toMatchObject({
      kind: 'refused',
    });
    const busy = { content: 'd', status: 'in_progress' };
    expect(await todos.replace({ todos: [busy, busy] })).toMatchObject({
      error_code: 'multiple_in_progress',
    });
    expect(contentsOf(todos.todos)).toEqual(['a', 'b']);
    expect(mirror.kept).toBe(kept);
    expect(heard).toEqual([2]);
  });

  it('[PM-92] comes back from its mirror', async () => {
    const mirror = memory();
    const before = await TodoList.open({ sessionId, mirror });
    expect(await before.replace(list('a', 'b'))).toMatchObject({ isMirrored: true });
    expect((await TodoList.open({ sessionId, mirror })).todos).toEqual(before.todos);
  });

  it.each([
    ['another session', { version: 1, sessionId: 'session-2', todos: [] }],
    ['another version', { version: 2, sessionId, todos: [] }],
    ['a broken item', { version: 1, sessionId, todos: [{ id: 'a', content: 'x', status: 'done' }] }],
    [
      'two items in progress',
      { version: 1, sessionId, todos: ['a', 'b'].map((id) => ({ id, content: id, status: 'in_progress' })) },
    ],
    [
      'too many items',
      { version: 1, sessionId, todos: Array(41).fill({ id: 'a', content: 'x', status: 'pending' }) },
    ],
    ['null', null],
    ['a list', []],
  ])('[PM-92] starts empty, with a line in the log, from a mirror of %s', async (_, kept) => {
    const { log, lines } = logged();
    const mirror = memory(kept);
    const todos = await TodoList.open({ sessionId, mirror, log });
    expect(todos.todos).toEqual([]);
    expect(lines).toEqual(['warn the mirror of the working list is corrupt; the list starts empty']);
    await todos.replace(list('a'));
    expect(contentsOf((await TodoList.open({ sessionId, mirror })).todos)).toEqual(['a']);
  });

  it('[PM-92] starts and goes on where its mirror fails', async () => {
    const { log, lines } = logged();
    const fail = () => Promise.reject(new Error('no space left'));
    const todos = await TodoList.open({ sessionId, mirror: { load: fail, save: fail }, log });
    expect(await todos.replace(list('a'))).toMatchObject({ kind: 'written', isMirrored: false });
    expect(contentsOf(todos.todos)).toEqual(['a']);
    expect(lines).toEqual([
      'warn the mirror of the working list is corrupt; the list starts empty',
      'warn the working list could not be mirrored; a restart would lose it',
    ]);
  });

  it('[PM-92] tries its mirror again with the next write', async () => {
    const mirror = memory();
    const todos = await TodoList.open({ sessionId, mirror });
    mirror.failing = true;
    expect(await todos.replace(list('a'))).toMatchObject({ isMirrored: false });
    mirror.failing = false;
    expect(await todos.replace(list('b'))).toMatchObject({ isMirrored: true });
    expect(mirror.kept).toMatchObject({ todos: [{ content: 'b' }] });
  });

  it('[PM-92] keeps the order of writes that overlap, and never mirrors two at once', async () => {
    const mirror = new SlowMirror();
    const todos = await TodoList.open({ sessionId, mirror });
    const writes = ['a', 'b', 'c', 'd'].map((content) => todos.replace(list(content)));
    expect(contentsOf(todos.todos)).toEqual(['d']); // each holds as soon as it is called

    await mirror.let();
    expect(await Promise.all(writes)).toMatchObject(
      ['a', 'b', 'c', 'd'].map((content) => ({ todos: [{ content }], isMirrored: true })),
    );
    expect(mirror.saves.at(-1)).toEqual(['d']);
    expect(mirror.saves.length).toBeLessThan(3); // those that were replaced meanwhile need no write
    expect(mirror.kept).toMatchObject({ todos: [{ content: 'd' }] });
  });

  it('is not changed by whoever reads it, nor stopped by a listener that fails', async () => {
    const { log, lines } = logged();
    const onChange = () => {
      throw new Error('the window is gone');
    };
    const todos = await TodoList.open({ sessionId, log, onChange });
    await todos.replace(list('a'));
    expect(Object.isFrozen(todos.todos) && todos.todos.every((todo) => Object.isFrozen(todo))).toBe(true);
    expect(lines).toEqual(['error a listener of the working list failed']);
  });
});

function memory(kept?: unknown): TodoStorage & { kept: unknown; failing: boolean } {
  return {
    kept,
    failing: false,
    async load() {
      return this.kept;
    },
    async save(record) {
      if (this.failing) throw new Error('no space left');
      this.kept = structuredClone(record);
    },
  };
}
