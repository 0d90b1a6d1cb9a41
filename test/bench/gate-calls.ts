import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BlockedCounter, type Gate, PlanSession, type ToolCall } from '@placet/plan-mode';

/** What one round says. */
export interface GateRound {
  /** A call, in microseconds. */
  gateUs: number;
  floorUs: number;
  /** The heap in use after half of the calls, and after all of them; both collected. */
  halfwayBytes: number;
  finalBytes: number;
}

/**
 * PF-4: the gate of a session that plans, with everything that hangs on it: events, log, counter. Allowed and refused
 * calls come in turns. The floor is what a host does with each call anyway: it reads it out of the model's answer.
 */
function main(): void {
  const [count = '300000', rounds = '3'] = process.argv.slice(2);
  const halfCount = Math.ceil(Number(count) / 2);
  const server = {};
  const gate = gateOf(server);
  const calls = callsTo(server);
  const texts = calls.map(({ server: _object, ...call }) => JSON.stringify(call));
  const collect: unknown = exposedCollector();
  const heapBytes = () => {
    if (typeof collect === 'function') collect();
    return process.memoryUsage().heapUsed;
  };
  const judge = () => timeUs(halfCount, (at) => gate(pick(calls, at)));
  const parse = () => timeUs(halfCount, (at) => JSON.parse(pick(texts, at)));
  judge(); // warms up both, and fills what is bounded
  parse();
  for (let round = 0; round < Number(rounds); round += 1) {
    const floorUs = parse();
    const first = judge();
    const halfwayBytes = heapBytes();
    const second = judge();
    const finalBytes = heapBytes();
    const result: GateRound = { gateUs: (first + second) / 2, floorUs, halfwayBytes, finalBytes };
    console.log(JSON.stringify(result));
  }
}

function gateOf(server: object): Gate {
  const { count } = new BlockedCounter();
  const session = new PlanSession({
    sessionId: 'bench',
    planModeRequired: false,
    mode: 'plan',
    isPlanFile: (path) => path === '/plans/mine.md',
    ownServers: new Map([[server, { submit: ['plan_submit'], ask: ['ask_lead'], todo: ['todo_write'] }]]),
    trustedReadOnlyTools: [{ server: 'docs', tool: 'read_page' }],
    onBlocked: count,
  });
  return session.gate;
}

/** One of each kind, and a thousand by names that a model invents. */
function callsTo(server: object): ToolCall[] {
  const manifest = { readOnlyHint: true };
  const kinds: ToolCall[] = [
    { source: 'builtin', tool: 'Read', manifest },
    { source: 'builtin', tool: 'Write', writesFile: '/plans/mine.md' },
    { source: 'builtin', tool: 'Write', writesFile: '/src/a.ts' },
    { source: 'shell', tool: 'Bash', shellIsReadOnly: true },
    { source: 'shell', tool: 'Bash' },
    { source: 'mcp', tool: 'mcp__placet__ask_lead', server, serverTool: 'ask_lead' },
    { source: 'mcp', tool: 'mcp__docs__read_page', serverName: 'docs', serverTool: 'read_page' },
    { source: 'agent-spawn', tool: 'Task', surface: 'voice' },
  ];
  const invented: ToolCall[] = Array.from({ length: 1000 }, (_, at) => ({
    source: 'mcp',
    tool: `mcp__x__invented_${at}`,
  }));
  return invented.flatMap((call) => [...kinds, call]);
}

function timeUs(count: number, work: (at: number) => unknown): number {
  const startedAtMs = performance.now();
  for (let at = 0; at < count; at += 1) work(at);
  return ((performance.now() - startedAtMs) * 1000) / count;
}

function pick<Item>(items: readonly Item[], at: number): Item {
  const item = items[at % items.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

/** Node's collector, without a flag on the command line. */
function exposedCollector(): unknown {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

main();
