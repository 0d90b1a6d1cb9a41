import { type AskResult, keyOf, type MailboxPort, type SessionLease } from '@placet/mailbox';
import { type Answers, type AskingMessage, newSessionId, type TaskRecord } from '@placet/protocol';
import { entriesOf, owner, type StoreWorld, teammate } from './store-world.ts';

/** The question that {@link questionOf} asks. */
export const colour = 'Which colour?';

let count = 0;

/** A question with an ID and a session of its own. */
export function questionOf(changes: Record<string, unknown> = {}): AskingMessage {
  count += 1;
  return {
    type: 'question_request',
    requestId: `question-${count}`,
    sessionId: newSessionId(),
    questions: [
      {
        question: colour,
        header: 'Colour',
        options: [{ label: 'Red' }, { label: 'Blue' }],
        multiSelect: false,
      },
    ],
    inPlanMode: true,
    ...changes,
  } as AskingMessage; // unless a test is about the opposite
}

export const answerOf = (label: string): { answers: Answers } => ({
  answers: { [colour]: { labels: [label] } },
});

/** What the tests of questions do, again and again, in a world of their own. */
export function questionsIn(world: StoreWorld) {
  const port: MailboxPort = world.mailbox.port(world.team, teammate, { owner });
  const { questions, inboxes } = world.mailbox;
  return {
    port,
    answer: (requestId: string, label = 'Red', by = 'lead:ada') =>
      questions.answer({ team: world.team, requestId, body: answerOf(label), by }),
    inboxOf: (agent: string) => inboxes.read(world.team, agent, { limit: 100 }),
    openIds: async () =>
      (await questions.list(world.team, { limit: 100 })).questions.map(({ requestId }) => requestId),
    /** Opens a task, whose session the caller holds. */
    openTask: async (job: { deadlineMs?: number } = {}): Promise<SessionLease> => {
      const sessionId = newSessionId();
      await port.openTask(sessionId, { task: 't', team: world.team, cwd: '/src', agent: 'codemod', ...job });
      const held = await port.holdSession(sessionId, 'planner', 60_000);
      if (held.kind !== 'held') throw new Error('not held');
      return held.lease;
    },
    taskOf: async (sessionId: string): Promise<TaskRecord> => {
      const task = await port.getTask(sessionId);
      if (!task) throw new Error('no task');
      return task;
    },
    /** Moves a question's deadline into the past, as the passing of time does. */
    passDeadline: async ({ record: { requestId } }: AskResult): Promise<void> => {
      const { redis } = world.handle;
      const key = keyOf(world.team, 'question', teammate, requestId);
      const text = (await redis.get(key)) ?? '';
      await redis.set(key, text.replace(/"dl":\d+}$/, '"dl":1000}'));
      await redis.zadd(keyOf(world.team, 'questionDeadlines'), 'XX', 1000, requestId);
    },
    /** Session, number and kind of each wake-up in the outbox. */
    wakes: async () => (await entriesOf(world, keyOf(world.team, 'outbox'))).map(({ s, w, k }) => [s, w, k]),
  };
}
