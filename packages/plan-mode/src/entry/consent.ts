import type { ConsentAnswer, PermissionMode } from '@placet/protocol';
import { type Refused, refuse } from '../posture/refused.ts';
import type { ConsentEnd, Stopped } from '../questions/ask-end.ts';
import type { RefusedAsk } from '../questions/refused-ask.ts';
import type { SessionKind } from '../submission/submission.ts';

/** What a surface shows where a model would like to plan first (PM-12); the reason it gives is shown with it. */
export const consentWords = {
  title: 'Plan first?',
  body: 'The session would like to explore and write a plan before it works. Nothing is changed before a plan is approved.',
  answers: { accepted: 'Yes, plan first', declined: 'No, start now', cancelled: 'Cancel' },
} as const satisfies { title: string; body: string; answers: Record<ConsentAnswer, string> };

/** What a model's wish to enter plan mode needs of its session. */
export interface ConsentFlow {
  sessionKind: SessionKind;
  /** The session's mode, now. */
  mode: () => PermissionMode;
  /** Asks a person and blocks: `OpenQuestions.askConsent`, or the lead's inbox. */
  ask: () => Promise<ConsentEnd | RefusedAsk>;
  /** `() => session.enter('consent')`. Called at most once, and only when a person has accepted. */
  enter: () => void;
}

/** What came of it, with the result of the tool. `parked`: it is still open and asked again under its ID (PM-66). */
export type ConsentOutcome = { textForModel: string } & (
  | { kind: 'entered' | 'already_planning' | 'declined' | 'cancelled'; isError: false }
  | (Stopped & { kind: 'parked'; isError: false })
  | (Refused & { isError: true })
);

const texts = {
  entered:
    'The person agrees that you plan first. The session is in plan mode now: explore and write the plan, change nothing else, and submit the plan when it is ready.',
  already_planning: 'The session is in plan mode already. Nothing has to be entered: go on with the plan.',
  declined:
    'The person would rather have you start now. The session is not in plan mode. Carry on with the task without a plan; each call is judged by the mode the session is in. Do not ask for plan mode again for this task.',
  cancelled:
    'Nobody agreed to plan first: the request was dismissed, or not answered in time. The session is not in plan mode, and its mode is what it was. That is no permission for anything.',
  parked:
    'The session shuts down before anybody answered. The request stays open and can be answered once it is back. End the turn here.',
} as const;

/**
 * `EnterPlanMode` by a model (PM-12): asks a person, and enters plan mode if they accept; no other end enters it, and none
 * leaves it. Declining is a result, not an error. In a sub-agent it is refused, and nobody is asked. Rejects only where
 * `enter` throws.
 */
export async function enterByConsent({
  sessionKind,
  mode,
  ask,
  enter,
}: ConsentFlow): Promise<ConsentOutcome> {
  if (sessionKind === 'agent') {
    const textForModel =
      'A sub-agent does not enter plan mode, and nobody was asked. Report to the agent that started you that planning first seems right.';
    return { ...refuse('forbidden', 'a sub-agent does not enter plan mode'), isError: true, textForModel };
  }
  if (mode() === 'plan') return resultOf('already_planning');
  const end = await ask();
  switch (end.kind) {
    case 'refused':
      return { ...end, isError: true };
    case 'parked':
      return { ...end, isError: false, textForModel: texts.parked };
    case 'consent':
      if (end.consent !== 'accepted') return resultOf(end.consent);
      enter();
      return resultOf('entered');
    case 'unanswered':
    case 'interrupted':
      return resultOf('cancelled');
  }
}

function resultOf(kind: 'entered' | 'already_planning' | 'declined' | 'cancelled'): ConsentOutcome {
  return { kind, isError: false, textForModel: texts[kind] };
}
