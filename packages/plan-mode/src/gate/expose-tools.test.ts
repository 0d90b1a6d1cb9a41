import { describe, expect, it, vi } from 'vitest';
import { exposeTools } from './expose-tools.ts';
import { createGate } from './gate.ts';
import type { ToolCall } from './tool-call.ts';

interface HostTool {
  name: string;
  call: Omit<ToolCall, 'tool'>;
}

const tool = (name: string, call: Omit<ToolCall, 'tool'>): HostTool => ({ name, call });
const readOnly = { readOnlyHint: true };
const placet = {};
const planFilePath = '/plans/mine.md';

const toolboxes = [
  {
    title: 'Coding',
    tools: [
      tool('read_file', { source: 'builtin', manifest: readOnly }),
      tool('edit_file', { source: 'builtin' }),
      tool('write_file', { source: 'builtin', writesFile: planFilePath }),
    ],
  },
  { title: 'Mail', tools: [tool('read_and_send', { source: 'builtin' })] },
  {
    title: 'Servers',
    tools: [
      tool('mcp__docs__read', { source: 'mcp', serverName: 'docs', serverTool: 'read' }),
      tool('mcp__docs__write', {
        source: 'mcp',
        serverName: 'docs',
        serverTool: 'write',
        manifest: readOnly,
      }),
      tool('plan_submit', { source: 'mcp', server: placet }),
    ],
  },
  { title: 'Shell', tools: [tool('Bash', { source: 'shell', shellIsReadOnly: true })] },
  { title: 'Agents', tools: [tool('Task', { source: 'agent-spawn', manifest: readOnly })] },
];

function exposed(isPlanning: boolean, onBlocked = () => undefined) {
  const gate = createGate({
    sessionId: 's',
    isPlanning: () => isPlanning,
    isPlanFile: (path) => path === planFilePath,
    ownServers: new Map([[placet, { submit: ['plan_submit'] }]]),
    trustedReadOnlyTools: [{ server: 'docs', tool: 'read' }],
    onBlocked,
  });
  return exposeTools({ gate, toolboxes, callOf: ({ name, call }) => ({ tool: name, ...call }) });
}

describe('exposing tools while planning', () => {
  it('[PM-20] takes single tools out of the array and of the catalogue, and toolboxes that are left empty', () => {
    const { tools, toolboxes: catalogue } = exposed(true);

    expect(catalogue.map(({ title, tools: left }) => [title, left.map(({ name }) => name)])).toEqual([
      ['Coding', ['read_file', 'write_file']],
      ['Servers', ['mcp__docs__read', 'plan_submit']],
      ['Shell', ['Bash']],
    ]);
    expect(tools).toEqual(catalogue.flatMap((box) => box.tools));
  });

  it('[PM-20] takes out nothing outside plan mode', () => {
    expect(exposed(false).toolboxes).toEqual(toolboxes);
  });

  it('[PM-20] is no call: nothing is counted', () => {
    const onBlocked = vi.fn();
    exposed(true, onBlocked);

    expect(onBlocked).not.toHaveBeenCalled();
  });

  it('[PM-20] leaves the catalogue of the host as it is', () => {
    const before = structuredClone(toolboxes);
    exposed(true);

    expect(toolboxes).toEqual(before);
  });

  it('[PM-20] does not offer what the host cannot describe', () => {
    const gate = createGate({ sessionId: 's', isPlanning: () => true });
    const callOf = (): ToolCall => {
      throw new Error('of the host');
    };

    expect(exposeTools({ gate, toolboxes, callOf })).toEqual({ tools: [], toolboxes: [] });
  });
});
