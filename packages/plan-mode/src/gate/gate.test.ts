import { describe, expect, it } from 'vitest';
import { judgeWhilePlanning, type PlanPhase } from './gate.ts';
import type { ToolCall } from './tool-call.ts';

const ownServer = {};
const phase: PlanPhase = {
  sessionId: 'session-1',
  ownServers: new Set([ownServer]),
  trustedReadOnlyTools: new Set(['mcp__docs__read']),
  isPlanFile: (path) => path === '/plans/mine.md',
};

function judged(call: ToolCall): string {
  const verdict = judgeWhilePlanning(phase, call);
  return verdict.kind === 'allowed' ? 'allowed' : verdict.refusal.reason;
}

describe('the gate of a session that plans', () => {
  it.each<[string, ToolCall, string]>([
    ['a declared read', { tool: 'Read', source: 'builtin', manifest: { readOnlyHint: true } }, 'allowed'],
    ['a declared safe tool', { tool: 'look', source: 'ui', manifest: { safetyTier: 'safe' } }, 'allowed'],
    ['no declaration', { tool: 'read_status_and_delete', source: 'builtin' }, 'not_plan_safe'],
    ['a denial', { tool: 'Read', source: 'builtin', manifest: { readOnlyHint: false } }, 'not_plan_safe'],
    ['another tier', { tool: 'x', source: 'voice', manifest: { safetyTier: 'confirm' } }, 'not_plan_safe'],
  ])('[PM-22] judges %s by its declaration alone', (_what, call, expected) => {
    expect(judged(call)).toBe(expected);
  });

  it.each<[string, ToolCall, string]>([
    ['MCP', { tool: 'mcp__x__read', source: 'mcp', manifest: { readOnlyHint: true } }, 'untrusted_server'],
    [
      'a daemon',
      { tool: 'daemon_read', source: 'daemon', manifest: { safetyTier: 'safe' } },
      'untrusted_server',
    ],
    [
      'an MCP tool called built-in',
      { tool: 'mcp__x__read', source: 'builtin', manifest: { readOnlyHint: true } },
      'untrusted_server',
    ],
    ['a trusted tool', { tool: 'mcp__docs__read', source: 'mcp' }, 'allowed'],
  ])('[PM-23] fails closed for %s unless it is listed', (_what, call, expected) => {
    expect(judged(call)).toBe(expected);
  });

  it('[PM-24] refuses to start an agent, whatever it declares', () => {
    expect(judged({ tool: 'Task', source: 'agent-spawn', manifest: { readOnlyHint: true } })).toBe(
      'agent_spawn',
    );
    expect(judged({ tool: 'Task', source: 'agent-spawn', server: ownServer })).toBe('agent_spawn');
  });

  it("[PM-25] knows Placet's own tools by the registered server and never by name", () => {
    expect(judged({ tool: 'mcp__placet__plan_submit', source: 'mcp', server: ownServer })).toBe('allowed');
    expect(judged({ tool: 'mcp__placet__plan_submit', source: 'mcp', server: {} })).toBe('untrusted_server');
    expect(judged({ tool: 'plan_submit', source: 'builtin' })).toBe('not_plan_safe');
  });

  it('[PM-26] lets the plan file be written and no other', () => {
    expect(judged({ tool: 'Write', source: 'builtin', writesFile: '/plans/mine.md' })).toBe('allowed');
    expect(judged({ tool: 'Write', source: 'builtin', writesFile: '/plans/other.md' })).toBe(
      'not_the_plan_file',
    );
  });

  it('[PM-26] does not let a write pass because its tool declares itself safe', () => {
    const call: ToolCall = {
      tool: 'Write',
      source: 'builtin',
      writesFile: '/etc/passwd',
      manifest: { readOnlyHint: true },
    };

    expect(judged(call)).toBe('not_the_plan_file');
  });

  it.each([
    [undefined, 'shell_not_read_only'],
    [false, 'shell_not_read_only'],
    [true, 'allowed'],
  ])('[PM-27] judges a shell command whose proof is %s: %s', (shellIsReadOnly, expected) => {
    const call: ToolCall = { tool: 'Bash', source: 'shell', manifest: { readOnlyHint: true } };

    expect(judged(shellIsReadOnly === undefined ? call : { ...call, shellIsReadOnly })).toBe(expected);
  });

  it('[PM-28] refuses in one shape', () => {
    expect(judgeWhilePlanning(phase, { tool: 'Write', source: 'builtin' })).toEqual({
      kind: 'refused',
      refusal: {
        error_code: 'plan_mode_blocked',
        tool: 'Write',
        session_id: 'session-1',
        reason: 'not_plan_safe',
        fixable_by_llm: false,
        hint: expect.stringContaining('planning'),
      },
    });
  });
});
