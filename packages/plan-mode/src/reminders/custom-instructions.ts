import { unsafeText } from '@placet/protocol';

/** The longest workflow that a host may set, in characters. */
export const maxInstructionsChars = 50_000;

/** Why instructions are not taken: a code of the catalogue, and a sentence for people. */
export interface InstructionsFault {
  code: 'usage' | 'validation_failed' | 'payload_too_large';
  detail: string;
}

/**
 * Why custom instructions for plan mode cannot be taken from a command line, if so (PM-54): they are for headless runs
 * only, and are a text that can be passed on.
 */
export function faultOfInstructions({
  interactive,
  instructions,
}: {
  interactive: boolean;
  instructions: string | undefined;
}): InstructionsFault | undefined {
  if (instructions === undefined) return undefined;
  if (interactive)
    return {
      code: 'usage',
      detail:
        'custom instructions for plan mode are for headless runs only; leave them out, or run without a terminal session',
    };
  if (instructions.length > maxInstructionsChars)
    return {
      code: 'payload_too_large',
      detail: `the instructions have over ${maxInstructionsChars} characters`,
    };
  const unsafe = unsafeText(instructions);
  return unsafe ? { code: 'validation_failed', detail: `the instructions text ${unsafe}` } : undefined;
}

/** What every line of instructions begins with in a reminder, and no line of our own. */
export const quoteMark = '| ';

// Some reader takes one or another of them for the end of a line; none of them is of use within one.
const lineEnd = /\r\n|[^\P{Cc}\t]|[\p{Zl}\p{Zp}]/u;

/**
 * The instructions as a reminder holds them (PM-53): each line marked as quoted, so that nothing in them can be taken
 * for a line of the rules around them, whatever it imitates.
 */
export function quoteInstructions(instructions: string): string {
  return instructions
    .split(lineEnd)
    .map((line) => `${quoteMark}${line}`.trimEnd())
    .join('\n');
}
