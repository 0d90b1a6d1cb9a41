import type { ErrorCode } from '@placet/protocol';
import { type Refused, refuse } from '../posture/refused.ts';

/** Something was not asked; the model is told why. */
export type RefusedAsk = Refused & { textForModel: string };

/** Refuses to ask, and tells the model that nobody saw it. */
export function notAsked(code: ErrorCode, detail: string): RefusedAsk {
  return {
    ...refuse(code, detail),
    textForModel: `Nobody was shown this, so there is no answer and nothing was decided: ${detail}.`,
  };
}
