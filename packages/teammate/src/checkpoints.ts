/**
 * The steps of a session between which a worker may be killed (TM-8), in the order in which they come. Each is named
 * once it is done. Nothing of the product depends on them: fault tests are told, and kill there.
 */
export const checkpoints = [
  // planning
  'task-opened',
  'session-held',
  'plan-tree-made',
  'plan-agent-ready',
  'plan-agent-ended',
  'plan-checked',
  'intent-journaled',
  'intent-recorded',
  'plan-submitted',
  'submission-journaled',
  'awaiting-recorded',
  // deciding
  'decision-verified',
  'decision-delivered',
  'rejection-recorded',
  'end-recorded',
  // implementing
  'work-claimed',
  'plan-replaced',
  'work-tree-made',
  'applied-journaled',
  'work-agent-ready',
  'gate-opened',
  'work-applied',
  'work-agent-ended',
  'work-committed',
  'made-journaled',
  'work-settled',
  'settled-journaled',
  'work-published',
  // both
  'session-released',
] as const;

/** The name of a step. */
export type Checkpoint = (typeof checkpoints)[number];

/** Told that a step is done; the next one waits for it. */
export type OnCheckpoint = (name: Checkpoint, sessionId: string) => Promise<void> | void;
