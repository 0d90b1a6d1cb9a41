import { WorkingMode } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { PlanSession } from '../posture/plan-session.ts';
import { surfaces, type ToolCall, type ToolManifest, toolSources } from './tool-call.ts';

const placet = {};
const planFilePath = '/plans/mine.md';

const names = [
  'Read',
  'read_x',
  'list_status',
  'mcp_x',
  'mcp__x__y',
  'daemon_x',
  'MCP__x',
  'plan_submit',
  'x_mcp_',
];
const manifests: (ToolManifest | undefined)[] = [
  undefined,
  {},
  { readOnlyHint: true },
  { readOnlyHint: false },
  { safetyTier: 'safe' },
  { safetyTier: 'confirm' },
  { readOnlyHint: false, safetyTier: 'safe' },
];
const servers: Partial<ToolCall>[] = [
  {},
  { server: {} },
  { server: {}, serverName: 'docs', serverTool: 'read' },
  { server: {}, serverName: 'docs', serverTool: 'write' },
  { server: placet, serverName: 'placet', serverTool: 'plan_submit' },
  { server: placet, serverName: 'placet', serverTool: 'run' },
  { serverName: 'placet', serverTool: 'plan_submit' },
];
const effects: Partial<ToolCall>[] = [
  {},
  { writesFile: planFilePath },
  { writesFile: '/etc/passwd' },
  { shellIsReadOnly: true },
  { shellIsReadOnly: false },
];

/** Each combination of who asks, what runs it, its name, what it declares, where it is from and what it does. */
function* everyCall(): Generator<ToolCall> {
  for (const surface of surfaces)
    for (const source of toolSources)
      for (const tool of names)
        for (const manifest of manifests)
          for (const server of servers)
            for (const effect of effects)
              yield { surface, source, tool, ...(manifest && { manifest }), ...server, ...effect };
}

/** What the rules allow, said once more and otherwise: by what must all be true of a call. */
function mayRun(call: ToolCall): boolean {
  const { source, tool, manifest, server, serverName, serverTool, writesFile, shellIsReadOnly } = call;
  const ofHost = !server && !serverName && !/^(?:mcp|daemon)_/i.test(tool);
  const isOwn = server === placet && serverTool === 'plan_submit';
  const isTrusted = serverName === 'docs' && serverTool === 'read';
  const isDeclared = manifest?.readOnlyHint === true || manifest?.safetyTier === 'safe';
  switch (source) {
    case 'agent-spawn':
      return false;
    case 'shell':
      return ofHost && shellIsReadOnly === true && writesFile === undefined;
    case 'mcp':
    case 'daemon':
      return isOwn || isTrusted;
    case 'builtin':
      return isOwn || (ofHost && (writesFile === undefined ? isDeclared : writesFile === planFilePath));
  }
}

function sessionIn(mode: 'plan' | WorkingMode, prePlanMode: WorkingMode = 'default'): PlanSession {
  return new PlanSession({
    sessionId: 's',
    planModeRequired: false,
    mode,
    prePlanMode,
    allowRules: ['Bash(*)', 'Write', 'Task', 'mcp__x__y', 'daemon_x'].map((rule) => ({
      source: 'user',
      rule,
    })),
    autoGate: { isOpen: () => true },
    bypassAvailable: true,
    isPlanFile: (path) => path === planFilePath,
    ownServers: new Map([[placet, { submit: ['plan_submit'] }]]),
    trustedReadOnlyTools: [{ server: 'docs', tool: 'read' }],
  });
}

describe('every kind of call', () => {
  it.each(WorkingMode.options)(
    '[PM-21, PM-22, PM-23, PM-29] planning with %s underneath, is allowed by the rules of planning alone',
    (prePlanMode) => {
      const { gate } = sessionIn('plan', prePlanMode);
      const wrong: ToolCall[] = [];
      let allowed = 0;
      for (const call of everyCall()) {
        const isAllowed = gate(call).kind === 'allowed';
        if (isAllowed) allowed += 1;
        if (isAllowed !== mayRun(call)) wrong.push(call);
      }

      expect(wrong).toEqual([]);
      expect(allowed).toBeGreaterThan(0);
    },
  );

  it.each(WorkingMode.options)('[PM-2] is left to others in mode %s', (mode) => {
    const { gate } = sessionIn(mode);

    expect([...everyCall()].filter((call) => gate(call).kind !== 'allowed')).toEqual([]);
  });
});
