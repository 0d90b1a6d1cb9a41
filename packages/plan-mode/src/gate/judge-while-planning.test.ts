import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeWhilePlanning, type PlanPhase } from './judge-while-planning.ts';
import type { ToolCall, ToolManifest } from './tool-call.ts';
import { TrustedTools } from './trusted-tools.ts';

const placet = { name: 'placet' };
const phase: PlanPhase = {
  ownServers: new Map([
    [placet, { submit: ['plan_submit'], ask: ['AskUserQuestion', 'ask_lead'], todo: ['todo_write'] }],
  ]),
  trustedReadOnlyTools: new TrustedTools([{ server: 'docs', tool: 'read_page' }]),
  isPlanFile: (path) => path === '/plans/mine.md',
};

const judged = (call: ToolCall) => judgeWhilePlanning(phase, call) ?? 'allowed';
const safe: ToolManifest = { readOnlyHint: true, safetyTier: 'safe' };
const docs = {
  source: 'mcp',
  tool: 'mcp__docs__read_page',
  serverName: 'docs',
  serverTool: 'read_page',
} as const;

describe('the judgement of a call while planning', () => {
  it.each<[string, ToolManifest | undefined, string]>([
    ['a declared read', { readOnlyHint: true }, 'allowed'],
    ['a safe tier', { safetyTier: 'safe' }, 'allowed'],
    ['either declaration', { readOnlyHint: false, safetyTier: 'safe' }, 'allowed'],
    ['no manifest', undefined, 'not_plan_safe'],
    ['an empty manifest', {}, 'not_plan_safe'],
    ['a denial', { readOnlyHint: false }, 'not_plan_safe'],
    ['another tier', { safetyTier: 'confirm' }, 'not_plan_safe'],
    ['a tier spelt otherwise', { safetyTier: 'Safe' }, 'not_plan_safe'],
  ])('[PM-22] goes by the declaration alone: %s', (_what, manifest, expected) => {
    const call: ToolCall = {
      source: 'builtin',
      tool: 'read_status_and_delete',
      ...(manifest && { manifest }),
    };

    expect(judged(call)).toBe(expected);
  });

  it('[PM-22] takes no name for a declaration, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('Read', 'list', '__proto__')),
        (tool) => {
          expect(judged({ source: 'builtin', tool })).not.toBe('allowed');
        },
      ),
    );
  });

  it.each<[string, ToolCall]>([
    ['an MCP tool', { source: 'mcp', tool: 'mcp__x__read', server: {}, serverName: 'x', manifest: safe }],
    ['an MCP tool without a server', { source: 'mcp', tool: 'read', manifest: safe }],
    ['a daemon tool', { source: 'daemon', tool: 'daemon_read', manifest: safe }],
    ['an MCP tool said to be built in', { source: 'builtin', tool: 'mcp__x__read', manifest: safe }],
    ['one of another spelling', { source: 'builtin', tool: 'mcp_x', manifest: safe }],
    ['a daemon tool said to be built in', { source: 'builtin', tool: 'daemon_x', manifest: safe }],
    ['a shell of a daemon', { source: 'shell', tool: 'daemon_sh', shellIsReadOnly: true }],
    ['a name in capitals', { source: 'builtin', tool: 'MCP__x__read', manifest: safe }],
    ['a name after blanks', { source: 'builtin', tool: ' \tmcp__x__read', manifest: safe }],
    ['a name in full width', { source: 'builtin', tool: 'ｍｃｐ＿＿x', manifest: safe }],
    ['a name with a hidden character', { source: 'builtin', tool: 'm\u200bcp__x', manifest: safe }],
    ['a built-in name with a server', { source: 'builtin', tool: 'Read', server: {}, manifest: safe }],
    [
      'a built-in name of a named server',
      { source: 'builtin', tool: 'Read', serverName: 'docs', manifest: safe },
    ],
  ])('[PM-23] fails closed for %s, whatever it declares', (_what, call) => {
    expect(judged(call)).toBe('untrusted_server');
  });

  it.each<[string, ToolCall]>([
    ['as MCP', docs],
    ['as a daemon', { ...docs, source: 'daemon' }],
    ['by its own name', { source: 'mcp', tool: 'read_page', serverName: 'docs' }],
  ])('[PM-23] lets the listed tool of the listed server run: %s', (_what, call) => {
    expect(judged(call)).toBe('allowed');
  });

  it.each<[string, Partial<ToolCall>]>([
    ['another tool', { serverTool: 'write_page' }],
    ['another server', { serverName: 'doc' }],
    ['a server in capitals', { serverName: 'Docs' }],
    ['a tool in capitals', { serverTool: 'READ_PAGE' }],
    ['a trailing blank', { serverTool: 'read_page ' }],
    ['a trailing blank of the server', { serverName: 'docs ' }],
    ['a NUL character', { serverTool: 'read_page\0' }],
    ['full width', { serverTool: 'ｒead_page' }],
    ['another letter that looks the same', { serverName: 'dоcs' }],
    ['a composed form', { serverName: 'docs\u0301' }],
    ['a hidden character', { serverName: 'do\u200bcs' }],
    ['a cut elsewhere', { serverName: 'docs__read', serverTool: 'page' }],
    ['names of the prototype', { serverName: '__proto__', serverTool: 'constructor' }],
    ['a tool of the prototype', { serverTool: 'toString' }],
    ['an empty server', { serverName: '' }],
  ])('[PM-23] does not take %s for the listed one', (_what, other) => {
    expect(judged({ ...docs, ...other })).toBe('untrusted_server');
  });

  it('[PM-23] does not read the pair out of the name that was called', () => {
    expect(judged({ source: 'mcp', tool: 'mcp__docs__read_page' })).toBe('untrusted_server');
    expect(judged({ source: 'mcp', tool: 'mcp__docs__read_page', serverName: 'evil' })).toBe(
      'untrusted_server',
    );
  });

  it('[PM-23] trusts a tool of a server, not a shell or a host tool under its names', () => {
    expect(judged({ ...docs, source: 'builtin', manifest: safe })).toBe('untrusted_server');
    expect(judged({ ...docs, source: 'shell', shellIsReadOnly: true })).toBe('untrusted_server');
  });

  it.each<[string, Partial<ToolCall>]>([
    ['declares itself safe', { manifest: safe }],
    ["is a tool of Placet's server", { server: placet, serverTool: 'todo_write' }],
    ['is trusted by its names', { serverName: 'docs', serverTool: 'read_page' }],
    ['writes the plan file', { writesFile: '/plans/mine.md' }],
    ['only reads', { shellIsReadOnly: true }],
  ])('[PM-24] refuses to start an agent that %s', (_what, extras) => {
    expect(judged({ source: 'agent-spawn', tool: 'Task', ...extras })).toBe('agent_spawn');
  });

  it.each(['plan_submit', 'AskUserQuestion', 'ask_lead', 'todo_write'])(
    '[PM-25] always allows %s',
    (serverTool) => {
      const tool = `mcp__anything__${serverTool}`;

      expect(judged({ source: 'mcp', tool, server: placet, serverTool })).toBe('allowed');
      expect(judged({ source: 'builtin', tool: serverTool, server: placet })).toBe('allowed');
    },
  );

  it.each<[string, ToolCall]>([
    ['the name alone', { source: 'mcp', tool: 'mcp__placet__plan_submit' }],
    ['the name of the server too', { source: 'mcp', tool: 'plan_submit', serverName: 'placet' }],
    ['an object that looks the same', { source: 'mcp', tool: 'plan_submit', server: { ...placet } }],
    ['an object made from it', { source: 'mcp', tool: 'plan_submit', server: Object.create(placet) }],
    ['a proxy of it', { source: 'mcp', tool: 'plan_submit', server: new Proxy(placet, {}) }],
  ])("[PM-25] does not know Placet's server by %s", (_what, call) => {
    expect(judged({ ...call, manifest: safe })).toBe('untrusted_server');
  });

  it('[PM-25] knows no built-in tool by the name of one of ours', () => {
    expect(judged({ source: 'builtin', tool: 'plan_submit' })).toBe('not_plan_safe');
  });

  it.each(['run_command', 'Plan_submit', 'plan_submit ', 'toString', '__proto__'])(
    "[PM-25] gives another tool of Placet's own server nothing for free: %s",
    (tool) => {
      expect(judged({ source: 'mcp', tool, server: placet, manifest: safe })).toBe('untrusted_server');
    },
  );

  it("[PM-25] runs no command because Placet's server is named with it", () => {
    const call: ToolCall = { source: 'shell', tool: 'todo_write', server: placet, shellIsReadOnly: true };

    expect(judged(call)).toBe('untrusted_server');
  });

  it.each<[string, string]>([
    ['/plans/mine.md', 'allowed'],
    ['/plans/other.md', 'not_the_plan_file'],
    ['', 'not_the_plan_file'],
  ])('[PM-26] judges a write to "%s"', (writesFile, expected) => {
    expect(judged({ source: 'builtin', tool: 'Write', writesFile })).toBe(expected);
  });

  it('[PM-26] lets no write pass because its tool declares itself safe', () => {
    const call: ToolCall = { source: 'builtin', tool: 'Write', writesFile: '/etc/passwd', manifest: safe };

    expect(judged(call)).toBe('not_the_plan_file');
  });

  it.each<[string, Partial<ToolCall>, string]>([
    ['is not given', {}, 'shell_not_read_only'],
    ['says no', { shellIsReadOnly: false }, 'shell_not_read_only'],
    ['says yes', { shellIsReadOnly: true }, 'allowed'],
    ['is not given for a tool that declares itself safe', { manifest: safe }, 'shell_not_read_only'],
    ['is not given for the plan file', { writesFile: '/plans/mine.md' }, 'shell_not_read_only'],
    ['contradicts itself', { shellIsReadOnly: true, writesFile: '/plans/mine.md' }, 'shell_not_read_only'],
  ])("[PM-27] judges a shell command where the classifier's proof %s", (_what, extras, expected) => {
    expect(judged({ source: 'shell', tool: 'Bash', ...extras })).toBe(expected);
  });
});
