import { isPlanSafe, type ToolCall } from './tool-call.ts';

/** Why a call was refused; a label of the refusal metric, so there are few. */
export type RefusalReason =
  | 'not_plan_safe'
  | 'untrusted_server'
  | 'agent_spawn'
  | 'not_the_plan_file'
  | 'shell_not_read_only';

/** A refusal as the model gets it, as a tool error (PM-28). */
export interface Refusal {
  error_code: 'plan_mode_blocked';
  tool: string;
  session_id: string;
  reason: RefusalReason;
  fixable_by_llm: false;
  hint: string;
}

/** What the gate says of a call. */
export type Verdict = { kind: 'allowed' } | { kind: 'refused'; refusal: Refusal };

/** Judges every call of one session before it is executed (PM-21). Never waits, never throws. */
export type Gate = (call: ToolCall) => Verdict;

/** What the judgement of a planning session depends on. */
export interface PlanPhase {
  sessionId: string;
  /** The servers that the host registered as Placet's own; their tools submit, ask and list (PM-25). */
  ownServers: ReadonlySet<object>;
  /** MCP and daemon tools that the operator listed as trusted (PM-23). */
  trustedReadOnlyTools: ReadonlySet<string>;
  /** Whether a path is the session's own plan file, links resolved (PM-26). */
  isPlanFile(path: string): boolean;
}

const hints: Record<RefusalReason, string> = {
  not_plan_safe:
    'This session is planning. Read, write your plan file, submit the plan and wait for the decision.',
  untrusted_server: 'Tools of other servers are refused while planning, whatever they declare.',
  agent_spawn: 'No agent can be started while planning. Do the research in this session.',
  not_the_plan_file: 'While planning only the plan file itself can be written.',
  shell_not_read_only: 'While planning only commands that are proved to be read-only can run.',
};

const allowed: Verdict = { kind: 'allowed' };

/** Judges a call of a session that plans. The first rule that speaks decides; where none does, it is refused. */
export function judgeWhilePlanning(phase: PlanPhase, call: ToolCall): Verdict {
  const reason = refusalOf(phase, call);
  if (!reason) return allowed;
  const { tool } = call;
  const { sessionId } = phase;
  return {
    kind: 'refused',
    refusal: {
      error_code: 'plan_mode_blocked',
      tool,
      session_id: sessionId,
      reason,
      fixable_by_llm: false,
      hint: hints[reason],
    },
  };
}

function refusalOf(phase: PlanPhase, call: ToolCall): RefusalReason | undefined {
  if (call.source === 'agent-spawn') return 'agent_spawn';
  if (call.server && phase.ownServers.has(call.server)) return undefined;
  if (isForeignServer(call))
    return phase.trustedReadOnlyTools.has(call.tool) ? undefined : 'untrusted_server';
  if (call.writesFile !== undefined)
    return phase.isPlanFile(call.writesFile) ? undefined : 'not_the_plan_file';
  if (call.source === 'shell') return call.shellIsReadOnly === true ? undefined : 'shell_not_read_only';
  return isPlanSafe(call.manifest) ? undefined : 'not_plan_safe';
}

/** By its source, and by its name too: a host that mislabels an MCP tool must not open it (PM-23). */
function isForeignServer({ source, tool }: ToolCall): boolean {
  return source === 'mcp' || source === 'daemon' || /^(?:mcp_|daemon_)/.test(tool);
}
