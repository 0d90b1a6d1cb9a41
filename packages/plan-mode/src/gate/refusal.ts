import { showInvisible } from '@placet/protocol';

const hints = {
  not_plan_safe:
    'This session is planning. Read, write your plan file, submit the plan and wait for the decision.',
  untrusted_server:
    'Tools of servers and daemons are refused while planning, whatever they declare, unless the operator lists them.',
  agent_spawn: 'No agent can be started while planning. Do the research in this session.',
  not_the_plan_file: 'While planning only the plan file itself can be written.',
  shell_not_read_only: 'While planning only commands that are proved to be read-only can run.',
  malformed_call: 'The host did not say what this call runs, and while planning what is unknown is refused.',
  check_failed: 'What would have to be checked could not be, and while planning what is unknown is refused.',
} as const;

/** Why a call was refused; a label of the refusal metric, so there are few. */
export type RefusalReason = keyof typeof hints;

/** A refusal as the model gets it (PM-28). Trying again mends nothing. */
export interface Refusal {
  readonly error_code: 'plan_mode_blocked';
  /** The name that was called, at most 256 characters, what nobody would see in it made visible. */
  readonly tool: string;
  readonly session_id: string;
  readonly reason: RefusalReason;
  readonly fixable_by_llm: false;
  /** What the model can do instead. */
  readonly hint: string;
}

/** A refusal as the result of a tool call, in the shape of MCP: an error with one text (PM-28). */
export interface ToolError {
  isError: true;
  content: [{ type: 'text'; text: string }];
}

const maxShownChars = 256;
const plainName = /^[\x21-\x7e]{1,256}$/;

/** Makes the one shape in which every call is refused (PM-28). */
export function refusalOf(call: { tool: string; sessionId: string; reason: RefusalReason }): Refusal {
  const { tool, sessionId, reason } = call;
  return Object.freeze({
    error_code: 'plan_mode_blocked',
    tool: shown(tool),
    session_id: sessionId,
    reason,
    fixable_by_llm: false,
    hint: hints[reason],
  });
}

/** What to answer the model with, in place of a result (PM-28). */
export function toolErrorOf(refusal: Refusal): ToolError {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(refusal) }] };
}

/** A model can call anything by any name; nothing unbounded or unseen of it goes on to logs and people. */
function shown(tool: string): string {
  return plainName.test(tool) ? tool : showInvisible(tool.slice(0, maxShownChars)).slice(0, maxShownChars);
}
