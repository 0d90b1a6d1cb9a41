import { type TodoItem, todoLimits } from '@placet/protocol';
import type { TodosVerdict } from './judge-todos.ts';

/**
 * What the model is told after a `todo_write`: the list as it stands, in full, for the next list is written from
 * what was shown of this one (PM-92); or why it was not taken, with the path of each fault.
 */
export function todoText(
  outcome: { kind: 'written'; todos: readonly TodoItem[] } | Extract<TodosVerdict, { kind: 'refused' }>,
): string {
  if (outcome.kind === 'written') return `The working list is now:\n${echoTodos(outcome.todos)}`;
  const faults = outcome.issues.map(({ path, message }) => `- ${path}: ${message}`);
  return [
    `The working list was not changed (${outcome.error_code}). Write the whole list again:`,
    ...faults,
  ].join('\n');
}

/** A list of items as JSON, one a line; of a longer one than `todoLimits.echoedItems` only so many, and how many are left out. */
export function echoTodos(todos: readonly TodoItem[]): string {
  const shown = todos.slice(0, todoLimits.echoedItems).map((todo) => JSON.stringify(todo));
  const left = todos.length - shown.length;
  const lines = left > 0 ? [...shown, `"… and ${left} more"`] : shown;
  return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`;
}
