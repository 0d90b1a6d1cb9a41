import type { RefusalReason } from './refusal.ts';
import { isPlanSafe, type ToolCall } from './tool-call.ts';
import type { TrustedTools } from './trusted-tools.ts';

/** Which tools of one of Placet's own servers do what is always allowed (PM-25), by their names on that server. */
export interface OwnTools {
  /** Submit the plan: `plan_submit`, `ExitPlanMode`. */
  readonly submit?: readonly string[];
  /** Ask: `AskUserQuestion`, `ask_lead`. */
  readonly ask?: readonly string[];
  /** Keep the working list: `todo_write`. */
  readonly todo?: readonly string[];
}

/**
 * The servers that the host registered as Placet's own, by their very objects: the `server` of a call is looked up here
 * and its name is not (PM-25). A tool of such a server that is not named here is judged like anybody's.
 */
export type OwnServers = ReadonlyMap<object, OwnTools>;

/** What the judgement of a planning session depends on. The mode to go back to is not among it (PM-29). */
export interface PlanPhase {
  ownServers: OwnServers;
  trustedReadOnlyTools: TrustedTools;
  /** Whether a path is the session's own plan file, links resolved (PM-26); anything but true is a no. */
  isPlanFile(path: string): boolean;
}

/**
 * Judges a call of a session that plans: why it is refused, or undefined where it is allowed. The first rule that
 * speaks decides; where none does, the call is refused. It depends on its arguments alone.
 *
 * @throws whatever `isPlanFile` throws; a gate refuses then.
 */
export function judgeWhilePlanning(phase: PlanPhase, call: ToolCall): RefusalReason | undefined {
  if (call.source === 'agent-spawn') return 'agent_spawn';
  if (isForeign(call)) return isOwn(phase, call) || isTrusted(phase, call) ? undefined : 'untrusted_server';
  if (call.source === 'shell') return isReadOnlyCommand(call) ? undefined : 'shell_not_read_only';
  if (call.writesFile !== undefined) return writesPlanFile(phase, call.writesFile);
  return isPlanSafe(call.manifest) ? undefined : 'not_plan_safe';
}

/** By any sign of it, so that a host that mislabels a call as its own does not open it (PM-23). */
function isForeign({ source, tool, server, serverName }: ToolCall): boolean {
  return (
    source === 'mcp' ||
    source === 'daemon' ||
    server !== undefined ||
    serverName !== undefined ||
    hasForeignName(tool)
  );
}

function isOwn({ ownServers }: PlanPhase, { source, server, tool, serverTool = tool }: ToolCall): boolean {
  const own = server && source !== 'shell' ? ownServers.get(server) : undefined;
  if (!own) return false;
  return [own.submit, own.ask, own.todo].some((names) => names?.includes(serverTool) === true);
}

/** Only of a server that the host names: a prefix can be read in several ways, `mcp__a__b__c` being one. */
function isTrusted({ trustedReadOnlyTools }: PlanPhase, call: ToolCall): boolean {
  const { source, serverName, tool, serverTool = tool } = call;
  if (serverName === undefined || (source !== 'mcp' && source !== 'daemon')) return false;
  return trustedReadOnlyTools.has(serverName, serverTool);
}

/** A command that is proved to only read and yet is said to write is not proved. */
function isReadOnlyCommand({ shellIsReadOnly, writesFile }: ToolCall): boolean {
  return shellIsReadOnly === true && writesFile === undefined;
}

function writesPlanFile(phase: PlanPhase, path: string): RefusalReason | undefined {
  const answer: unknown = phase.isPlanFile(path); // a promise would be truthy
  return answer === true ? undefined : 'not_the_plan_file';
}

const foreignPrefix = /^[^\p{L}\p{N}]*(?:mcp|daemon)_/iu;
const asciiOnly = /^[\x20-\x7e]*$/;

/** A name can only close, never open, so what merely looks like such a name counts too. */
function hasForeignName(tool: string): boolean {
  const start = tool.slice(0, 64);
  if (asciiOnly.test(start)) return foreignPrefix.test(start);
  return foreignPrefix.test(
    start.normalize('NFKC').replace(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, ''),
  );
}
