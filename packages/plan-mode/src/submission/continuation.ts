import type { StoredPlan } from '../plan/plan-storage.ts';
import { approvedPlanMarker, approvesNothing, editedPlanMarker } from './outcome-text.ts';

/** What a new context begins with, where an approval clears the old one (PM-75). */
export interface Continuation {
  /** The first message: the approved plan, byte for byte, and where the rest can be read. */
  firstMessage: string;
}

/** The continuation of an approved plan (PM-75). `transcriptPath` is where the planning session's full transcript is. */
export function continuationOf(from: {
  plan: StoredPlan;
  planEdited?: boolean;
  transcriptPath: string;
}): Continuation {
  const { plan, planEdited = false, transcriptPath } = from;
  return {
    firstMessage: [
      'Carry out the plan below. It was approved in a session whose context is not here any more.',
      `What was found and said before is in the full transcript at ${transcriptPath}; read there what the plan leaves open.`,
      approvesNothing,
      `${planEdited ? editedPlanMarker : approvedPlanMarker}\n${plan.text}`,
    ].join('\n\n'),
  };
}
