import { z } from 'zod';
import { unsafeText } from './safe-json.ts';

/** Bounds of a working list (PM-90). */
export const todoLimits = {
  /** Strictly fewer than `echoedItems`: what echoes a whole list must never cut it (PM-92). */
  items: 40,
  /** Of an item's text, in JavaScript string length. */
  contentChars: 500,
  idChars: 64,
  /** What echoes a list to its model shows at most so many items of any list. */
  echoedItems: 50,
} as const;

/** How far an item is. At most one of a list is `in_progress` (PM-90). */
export const TodoStatus = z.enum(['pending', 'in_progress', 'completed']);
export type TodoStatus = z.infer<typeof TodoStatus>;

const safe = (text: string) => unsafeText(text) === undefined;
const safeRule = 'must hold no NUL character and no lone surrogate';

/** Names an item within its list. */
export const TodoId = z.string().min(1).max(todoLimits.idChars).refine(safe, safeRule);
export type TodoId = z.infer<typeof TodoId>;

/** One item of a session's working list (PM-90). It is text for people and models: nothing executes it. */
export const TodoItem = z.object({
  id: TodoId,
  content: z
    .string()
    .max(todoLimits.contentChars)
    .refine((text) => text.trim() !== '', 'must say something')
    .refine(safe, safeRule),
  status: TodoStatus,
});
export type TodoItem = z.infer<typeof TodoItem>;

/** An item as a model writes it; what else its client says of one is not kept. */
export const WrittenTodo = TodoItem.partial({ id: true });
export type WrittenTodo = z.infer<typeof WrittenTodo>;

/** A session's working list as it is kept. */
export const TodoMirrorRecord = z.strictObject({
  version: z.literal(1),
  sessionId: z.string(),
  todos: z.array(TodoItem).max(todoLimits.items),
});
export type TodoMirrorRecord = z.infer<typeof TodoMirrorRecord>;
