import { expect, it } from 'vitest';
import { PlanSession } from '../posture/plan-session.ts';
import { TodoList } from './todo-list.ts';

it('[PM-93] the working list is written while planning, through the gate, by the tool of the server that is ours', async () => {
  const sessionId = 'session-1';
  const ours = {};
  const session = new PlanSession({
    sessionId,
    planModeRequired: false,
    mode: 'plan',
    ownServers: new Map([[ours, { todo: ['todo_write'] }]]),
  });
  const call = { source: 'mcp', tool: 'mcp__placet__todo_write', serverTool: 'todo_write' } as const;
  expect(session.gate({ ...call, server: {} }).kind).toBe('refused');
  expect(session.gate({ ...call, server: ours }).kind).toBe('allowed');

  const todos = await TodoList.open({ sessionId });
  await todos.replace({ todos: [{ content: 'rm -rf "$HOME"', status: 'in_progress' }] });
  expect(todos.todos).toMatchObject([{ content: 'rm -rf "$HOME"' }]); // a text, and nothing but
  expect(session.mode).toBe('plan');
});
