import type { ErrorCode } from '@placet/protocol';

/** Why something was not done, and that nothing was changed: a code of the catalogue, and a sentence for people. */
export interface Refused {
  kind: 'refused';
  code: ErrorCode;
  detail: string;
}

/** Makes a refusal. */
export function refuse(code: ErrorCode, detail: string): Refused {
  return { kind: 'refused', code, detail };
}
