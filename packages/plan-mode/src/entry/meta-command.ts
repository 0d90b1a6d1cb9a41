import { GrantedMode } from '@placet/protocol';

/**
 * Where a message came from. `user`: a person, or a lead, wrote it on an authenticated surface; `transcript`: what was
 * heard of somebody who spoke; `model`: anything out of a model; `tool`: the result of a tool call.
 */
export type MessageOrigin = 'user' | 'transcript' | 'model' | 'tool';

/** What a message asks of plan mode, if anything. */
export type MetaCommand =
  /** No command: the message is for the model, as it stands. */
  | { kind: 'text' }
  | { kind: 'enter' }
  | { kind: 'status' }
  /** `mode` is undefined where none was said. */
  | { kind: 'approve'; mode: GrantedMode | undefined }
  | { kind: 'reject'; feedback: string }
  | { kind: 'exit' }
  /** A command that cannot be carried out: it does nothing, goes to no model, and is answered with `detail`. */
  | { kind: 'refused'; code: 'usage' | 'feedback_required'; detail: string };

const usage = '/plan, /plan status, /plan approve [MODE], /plan reject TEXT or /plan exit';

// Unicode's white space and nothing else: a byte order mark or a zero-width character is part of a token.
const whiteSpace = /\p{White_Space}/u;

/**
 * Reads the meta-command of a message (PM-11): its first token is exactly `/plan`. Everything else is text, and so is
 * whatever no person wrote (PM-13, PM-19). Never throws; takes time in proportion to the message.
 */
export function parseMetaCommand(message: string, origin: MessageOrigin): MetaCommand {
  if (origin !== 'user') return { kind: 'text' };
  const [first, afterFirst] = nextToken(message, 0);
  if (first !== '/plan') return { kind: 'text' };
  const [word, afterWord] = nextToken(message, afterFirst);
  const [argument, afterArgument] = nextToken(message, afterWord);
  const [surplus] = nextToken(message, afterArgument);
  switch (word) {
    case '':
      return { kind: 'enter' };
    case 'status':
    case 'exit':
      return argument === '' ? { kind: word } : refused(`"/plan ${word}" takes nothing after it`);
    case 'approve':
      return surplus === '' ? approval(argument) : refused('"/plan approve" takes one mode after it');
    case 'reject':
      return rejection(argument === '' ? '' : message.slice(afterWord).trim());
    default:
      return refused('that is no command of plan mode');
  }
}

function approval(argument: string): MetaCommand {
  if (argument === '') return { kind: 'approve', mode: undefined };
  const mode = GrantedMode.safeParse(argument);
  return mode.success
    ? { kind: 'approve', mode: mode.data }
    : refused(`"/plan approve" takes one of ${GrantedMode.options.join(', ')}`);
}

function rejection(feedback: string): MetaCommand {
  return feedback === ''
    ? {
        kind: 'refused',
        code: 'feedback_required',
        detail: 'Say why: "/plan reject TEXT". Nothing was done.',
      }
    : { kind: 'reject', feedback };
}

function refused(detail: string): MetaCommand {
  return { kind: 'refused', code: 'usage', detail: `${detail}: use ${usage}. Nothing was done.` };
}

/** The token at or after a place, empty at the end, and the place after it. */
function nextToken(text: string, from: number): [token: string, after: number] {
  let start = from;
  while (start < text.length && isWhiteSpace(text, start)) start += 1;
  let end = start;
  while (end < text.length && !isWhiteSpace(text, end)) end += 1;
  return [text.slice(start, end), end];
}

/** All white space of Unicode is of one UTF-16 unit. */
function isWhiteSpace(text: string, at: number): boolean {
  return whiteSpace.test(text.charAt(at));
}
