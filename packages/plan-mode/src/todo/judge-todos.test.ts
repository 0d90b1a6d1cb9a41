import { TodoItem, todoLimits } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeTodos } from './judge-todos.ts';
import { echoTodos, todoText } from './todo-text.ts';

const item = (content: string, more: object = {}) => ({ content, status: 'pending', ...more });
const list = (...todos: unknown[]) => ({ todos });
const counted = () => {
  let made = 0;
  return () => {
    made += 1;
    return `new-${made}`;
  };
};

describe('a written list', () => {
  it('[PM-90] is taken as it stands, and what else a client says of an item is not kept', () => {
    const written = list(
      item('read', { id: 'a', status: 'completed', activeForm: 'Reading' }),
      item('write', { id: 'b', status: 'in_progress', priority: 'high' }),
      item('x'.repeat(todoLimits.contentChars), { id: 'c' }),
    );
    expect(judgeTodos(written, counted())).toEqual({
      kind: 'valid',
      todos: [
        { id: 'a', content: 'read', status: 'completed' },
        { id: 'b', content: 'write', status: 'in_progress' },
        { id: 'c', content: 'x'.repeat(todoLimits.contentChars), status: 'pending' },
      ],
    });
    expect(judgeTodos(list(), counted())).toEqual({ kind: 'valid', todos: [] });
  });

  it('[PM-90] gets the IDs it leaves out, and one anew for each that it repeats', () => {
    const written = list(
      item('1'),
      item('2', { id: 'a' }),
      item('3', { id: 'a' }),
      item('4', { id: 'new-1' }),
    );
    expect(ids(judgeTodos(written, counted()))).toEqual(['new-1-2', 'a', 'new-2', 'new-1']);
  });

  it('[PM-90] gets different IDs of a source that repeats itself', () => {
    const written = list(item('1'), item('2', { id: 'same-2' }), item('3'), item('4'));
    expect(ids(judgeTodos(written, () => 'same'))).toEqual(['same', 'same-2', 'same-3', 'same-4']);
    expect(ids(judgeTodos(written, () => ''))).toEqual(['item', 'same-2', 'item-2', 'item-3']);
    for (const id of ids(judgeTodos(written, () => 'y'.repeat(1000))))
      expect(id.length).toBeLessThanOrEqual(todoLimits.idChars);
  });

  it('[PM-90] has at most one item in progress', () => {
    const working = { status: 'in_progress' };
    expect(judgeTodos(list(item('1', working), item('2'), item('3', working)), counted())).toEqual({
      kind: 'refused',
      error_code: 'multiple_in_progress',
      issues: [
        { path: 'todos.0.status', message: 'is one of 2 in_progress; at most one may be' },
        { path: 'todos.2.status', message: 'is one of 2 in_progress; at most one may be' },
      ],
    });
  });

  it.each([
    ['an item too many', list(...Array.from({ length: 41 }, () => item('x'))), ['todos']],
    ['a million items', { todos: Array(1_000_000).fill(0) }, ['todos']],
    ['a character too many', list(item('x'), item('x'.repeat(501))), ['todos.1.content']],
    ['an item of white space', list(item(' \n')), ['todos.0.content']],
    ['an item without a text', list({ status: 'pending' }), ['todos.0.content']],
    ['another status', list(item('x', { status: 'done' })), ['todos.0.status']],
    ['no status', list({ content: 'x' }), ['todos.0.status']],
    ['an empty ID', list(item('x', { id: '' })), ['todos.0.id']],
    ['a long ID', list(item('x', { id: 'i'.repeat(65) })), ['todos.0.id']],
    ['a number for an ID', list(item('x', { id: 7 })), ['todos.0.id']],
    ['NUL', list(item('a\0b')), ['todos.0.content']],
    ['a lone surrogate', list(item('\ud800', { id: '\udc00' })), ['todos.0.content', 'todos.0.id']],
    [
      'several faults',
      list(item(''), item('x', { status: 1 }), 5),
      ['todos.0.content', 'todos.1.status', 'todos.2'],
    ],
    ['no list', { todos: 'x' }, ['todos']],
    ['a list of its own', [item('x')], ['(root)']],
    ['nothing', undefined, ['(root)']],
  ])('[PM-91] is refused for %s, with the path of each fault', (_, written, paths) => {
    const verdict = judgeTodos(written, counted());
    if (verdict.kind !== 'refused') throw new Error('it was taken');
    expect(verdict.error_code).toBe('validation_failed');
    expect(new Set(verdict.issues.map(({ path }) => path))).toEqual(new Set(paths));
  });

  it('[PM-90] of whatever a model writes is refused, or well-formed with an ID for each item', () => {
    const text = fc.string({ maxLength: 520, unit: 'binary' });
    const wild = fc.record(
      {
        id: fc.oneof(fc.constantFrom('a', 'b', 'new-1', 'new-2'), text),
        content: text,
        status: fc.constantFrom('pending', 'in_progress', 'completed', 'done'),
      },
      { requiredKeys: ['content'] },
    );
    const tame = fc.record(
      {
        id: fc.constantFrom('a', 'b', 'new-1', 'new-2', '__proto__'),
        content: fc.constantFrom('x', '__proto__'),
        status: fc.constantFrom('pending', 'completed'),
      },
      { requiredKeys: ['content', 'status'] },
    );
    const anything = fc.oneof(
      fc.array(tame, { maxLength: 42 }),
      fc.array(fc.oneof(tame, wild), { maxLength: 5 }),
      fc.anything(),
    );
    fc.assert(
      fc.property(anything, (todos) => {
        const verdict = judgeTodos({ todos }, counted());
        if (verdict.kind === 'refused') {
          expect(verdict.issues.length).toBeGreaterThan(0);
          return;
        }
        expect(verdict.todos.map((todo) => TodoItem.parse(todo))).toEqual(verdict.todos);
        expect(new Set(ids(verdict)).size).toBe(verdict.todos.length);
        expect(verdict.todos.length).toBeLessThanOrEqual(todoLimits.items);
      }),
    );
  });
});

describe('what a model is told of its list', () => {
  it('[PM-92] is the whole list, for a list is always shorter than what an echo cuts', () => {
    expect(todoLimits.items).toBe(40);
    expect(todoLimits.echoedItems).toBe(50);
    expect(todoLimits.items).toBeLessThan(todoLimits.echoedItems);

    const long = '"\\\n😀'.repeat(100);
    const verdict = judgeTodos(
      list(...Array.from({ length: todoLimits.items }, () => item(long))),
      counted(),
    );
    if (verdict.kind !== 'valid') throw new Error('it was refused');
    expect(JSON.parse(echoTodos(verdict.todos))).toEqual(verdict.todos);

    const foreign = Array.from({ length: 51 }, (_, at) => ({
      id: `${at}`,
      content: 'x',
      status: 'pending' as const,
    }));
    expect(JSON.parse(echoTodos(foreign))).toEqual([...foreign.slice(0, 50), '… and 1 more']);
    expect(echoTodos([])).toBe('[]');
  });

  it('[PM-91] names each fault, and that nothing was changed', () => {
    const verdict = judgeTodos(list(item('x', { status: 'done' })), counted());
    if (verdict.kind !== 'refused') throw new Error('it was taken');
    expect(todoText(verdict)).toMatch(/not changed \(validation_failed\)[\s\S]*- todos\.0\.status: /);
    expect(todoText({ kind: 'written', todos: [] })).toBe('The working list is now:\n[]');
  });
});

function ids(verdict: ReturnType<typeof judgeTodos>): string[] {
  return verdict.kind === 'valid' ? verdict.todos.map(({ id }) => id) : [];
}
