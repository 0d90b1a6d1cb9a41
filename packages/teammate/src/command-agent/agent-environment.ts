import { Buffer } from 'node:buffer';

/** What an agent gets of this process' own environment: enough to find programs and to speak its user's language. */
const inherited = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'USER', 'LOGNAME'] as const;

/** The kernel takes no longer variable than 128 KiB. */
const maxTaskBytes = 100_000;

/** The part of an environment that agents and Git get; nothing else of it is passed on. */
export function minimalEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const minimal: Record<string, string> = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  for (const name of inherited) {
    const value = environment[name];
    if (value) minimal[name] = value;
  }
  return minimal;
}

/** What a command agent is told (TM-22). */
export interface AgentVariables {
  phase: 'plan' | 'implement';
  planFilePath: string;
  task: string;
  /** Holds the whole task, also where it is too long for a variable. */
  taskFilePath: string;
  feedbackFilePath: string | undefined;
  permissionMode: string;
  sessionId: string;
  revision: number;
  notices: readonly string[];
}

/** The variables of a command agent. A task too long for one is cut there; `PLACET_TASK_FILE` has all of it. */
export function agentVariables(from: AgentVariables): Record<string, string> {
  return {
    PLACET_PHASE: from.phase,
    PLACET_PLAN_FILE: from.planFilePath,
    PLACET_TASK: cut(from.task),
    PLACET_TASK_FILE: from.taskFilePath,
    ...(from.feedbackFilePath !== undefined && { PLACET_FEEDBACK_FILE: from.feedbackFilePath }),
    PLACET_PERMISSION_MODE: from.permissionMode,
    PLACET_SESSION: from.sessionId,
    PLACET_REVISION: String(from.revision),
    ...(from.notices.length > 0 && { PLACET_NOTICES: from.notices.join('\n') }),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

function cut(task: string): string {
  const bytes = Buffer.from(task, 'utf8');
  if (bytes.length <= maxTaskBytes) return task;
  return new TextDecoder().decode(bytes.subarray(0, maxTaskBytes)).replace(/\ufffd+$/, '');
}
