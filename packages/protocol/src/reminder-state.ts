import { z } from 'zod';

const count = z.number().int().nonnegative();

/** The last thing that plan mode put into a context: which, and in which user turn since entry or compaction (PM-51). */
export const LastAttachment = z.strictObject({
  reminderType: z.enum(['full', 'sparse', 'exit']),
  turn: count,
});
export type LastAttachment = z.infer<typeof LastAttachment>;

/**
 * Where a session stands with the reminders of plan mode (PM-50, PM-51): kept with the session, so that a restart
 * neither repeats nor forgets one.
 */
export const ReminderState = z.discriminatedUnion('phase', [
  z.strictObject({
    phase: z.literal('planning'),
    /** Reminders since entry or compaction. */
    given: count,
    /** User turns since the first of them. */
    turn: count,
    /** None before the first reminder since entry or compaction. */
    last: LastAttachment.optional(),
  }),
  z.strictObject({
    phase: z.literal('outside'),
    /** Whether the model is still to be told that plan mode was left (PM-55). */
    exitDue: z.boolean(),
    /** User turns when it was left. */
    turn: count,
    last: LastAttachment.optional(),
  }),
]);
export type ReminderState = z.infer<typeof ReminderState>;
