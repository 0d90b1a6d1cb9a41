import { type Issue, issuesOf, type TodoItem, todoLimits, WrittenTodo } from '@placet/protocol';
import { z } from 'zod';

/** Why a list was not taken (PM-90). */
export type TodoFault = 'validation_failed' | 'multiple_in_progress';

/** A list that is well-formed, or each fault of one that is not, with its path. */
export type TodosVerdict =
  | { kind: 'valid'; todos: readonly TodoItem[] }
  | { kind: 'refused'; error_code: TodoFault; issues: Issue[] };

/** No more faults are told at once: a model reads them. */
const maxIssues = 20;

const WrittenTodos = z.object({ todos: z.array(WrittenTodo) });

/**
 * Judges the arguments of a `todo_write`, `{ todos: [{ content, status, id? }, …] }`, as a whole (PM-90, PM-91).
 * An item without an ID gets one of `newId`, and so does one whose ID stands before it in the list already.
 */
export function judgeTodos(written: unknown, newId: () => string): TodosVerdict {
  const tooMany = countFault(written);
  if (tooMany) return { kind: 'refused', error_code: 'validation_failed', issues: [tooMany] };
  const parsed = WrittenTodos.safeParse(written);
  if (!parsed.success) {
    const issues = issuesOf(parsed.error).slice(0, maxIssues);
    return { kind: 'refused', error_code: 'validation_failed', issues };
  }
  const { todos } = parsed.data;
  const inProgress = todos.flatMap(({ status }, index) => (status === 'in_progress' ? [index] : []));
  if (inProgress.length > 1) {
    const issues = inProgress.map((index) => ({
      path: `todos.${index}.status`,
      message: `is one of ${inProgress.length} in_progress; at most one may be`,
    }));
    return { kind: 'refused', error_code: 'multiple_in_progress', issues: issues.slice(0, maxIssues) };
  }
  return { kind: 'valid', todos: withIds(todos, newId) };
}

/** Looked at before the items are: a list can be as long as its sender likes. */
function countFault(written: unknown): Issue | undefined {
  if (typeof written !== 'object' || written === null || !('todos' in written)) return undefined;
  const { todos } = written;
  if (!Array.isArray(todos) || todos.length <= todoLimits.items) return undefined;
  return { path: 'todos', message: `has ${todos.length} items; at most ${todoLimits.items} are kept` };
}

/** The first item of an ID keeps it. What is made is no ID that any item of the list wrote. */
function withIds(todos: readonly WrittenTodo[], newId: () => string): TodoItem[] {
  const taken = new Set(todos.flatMap(({ id }) => (id === undefined ? [] : [id])));
  const given = new Set<string>();
  return todos.map(({ id, content, status }) => {
    const own = id === undefined || given.has(id) ? freeId(newId, taken) : id;
    given.add(own);
    return { id: own, content, status };
  });
}

/** A source that repeats itself, or says nothing, is helped out with a number. */
function freeId(newId: () => string, taken: Set<string>): string {
  const base = newId().slice(0, todoLimits.idChars - 8) || 'item';
  let id = base;
  for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`;
  taken.add(id);
  return id;
}
