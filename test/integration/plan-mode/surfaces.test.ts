import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import {
  createExecutor,
  type Execution,
  type Executor,
  type Gate,
  PlanFile,
  PlanSession,
  type Surface,
  type ToolCall,
  toolErrorOf,
} from '@placet/plan-mode';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

interface Write {
  path: string;
  text: string;
}

/** What a server in this process offers: a tool of it really writes, and declares that it does not. */
class FileServer {
  readonly manifest = { readOnlyHint: true, safetyTier: 'safe' };

  async callTool(name: string, { path, text }: Write): Promise<string> {
    if (name === 'write_file') await writeFile(path, text);
    return `${name} done`;
  }
}

/** A program of its own, that writes what it is told to on its input. */
class WritingDaemon {
  readonly #child: ChildProcess;
  readonly #answers: Interface;

  constructor() {
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { path, text } = JSON.parse(line);
      require('node:fs').writeFileSync(path, text);
      console.log('done');
    });`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout });
  }

  async call(write: Write): Promise<string> {
    const answered = once(this.#answers, 'line');
    this.#child.stdin?.write(`${JSON.stringify(write)}\n`);
    const [answer] = await answered;
    return String(answer);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

type HostExecutor = Executor<Write, string>;
type Executed = Execution<string>;

let daemon: WritingDaemon;
let folder: string;
let target: Write;
let planFile: PlanFile;
let session: PlanSession;
const server = new FileServer();

beforeAll(() => {
  daemon = new WritingDaemon();
});
afterAll(() => daemon.close());
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-surfaces-')));
  target = { path: join(folder, 'written.txt'), text: 'written' };
  planFile = new PlanFile(join(folder, 'plan.md'));
  session = new PlanSession({ sessionId: 'session-1', planModeRequired: false, mode: 'default', planFile });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The one executor of a host: it runs whatever its gate let through. */
function executorOf(gate: Gate): HostExecutor {
  return createExecutor({
    gate,
    async run(call, write: Write, own): Promise<string> {
      switch (call.source) {
        case 'mcp':
          return server.callTool(call.serverTool ?? call.tool, write);
        case 'daemon':
          return daemon.call(write);
        case 'agent-spawn':
          return JSON.stringify(await new Agent(own).turn(write));
        case 'shell':
        case 'builtin':
          await writeFile(call.writesFile ?? write.path, write.text);
          return 'done';
      }
    },
  });
}

const builtin = (write: Write, surface: Surface): ToolCall => ({
  source: 'builtin',
  tool: 'Write',
  surface,
  writesFile: write.path,
  manifest: server.manifest,
});

/** A loop of its own, which makes its executor from the gate that it is handed. */
class Agent {
  readonly #executor: HostExecutor;

  constructor(gate: Gate) {
    this.#executor = executorOf(gate);
  }

  turn(write: Write): Promise<Executed> {
    return this.#executor.execute(builtin(write, 'sub-agent'), write);
  }
}

/** Speech to text, a model, and its call: a scripted pipeline, as far as it is not the host's. */
async function speak(executor: HostExecutor, write: Write): Promise<Executed> {
  const transcript = await Promise.resolve('please write the file');
  const said = await Promise.resolve({ tool: 'Write', because: transcript });
  return executor.execute({ ...builtin(write, 'voice'), tool: said.tool }, write);
}

/** A live session: calls come as events out of a stream, and their results go back into it. */
async function converse(executor: HostExecutor, write: Write): Promise<Executed> {
  const live = new EventEmitter();
  live.on('function_call', (args: Write) => {
    void executor.execute(builtin(args, 'realtime'), args).then(
      (executed) => live.emit('function_call_output', executed),
      (failed: unknown) => live.emit('error', failed),
    );
  });
  const answered: Promise<[Executed]> = new Promise((resolve, reject) => {
    live.once('function_call_output', (executed: Executed) => resolve([executed]));
    live.once('error', reject);
  });
  live.emit('function_call', write);
  return (await answered)[0];
}

/** A button of a page: its handler calls no model. */
function press(executor: HostExecutor, write: Write): Promise<Executed> {
  const button = new EventTarget();
  return new Promise((resolve, reject) => {
    button.addEventListener('click', () => {
      executor.execute(builtin(write, 'ui'), write).then(resolve, reject);
    });
    button.dispatchEvent(new Event('click'));
  });
}

const surfaces: [string, (executor: HostExecutor, write: Write) => Promise<Executed>, string][] = [
  [
    'a built-in tool',
    (executor, write) => executor.execute(builtin(write, 'chat'), write),
    'not_the_plan_file',
  ],
  [
    'a tool of an MCP server',
    (executor, write) => executor.execute(mcpCall('write_file'), write),
    'untrusted_server',
  ],
  [
    'a daemon',
    (executor, write) => executor.execute({ source: 'daemon', tool: 'daemon_write', server: daemon }, write),
    'untrusted_server',
  ],
  [
    'a sub-agent',
    (executor, write) => executor.execute({ source: 'agent-spawn', tool: 'Task' }, write),
    'agent_spawn',
  ],
  ['an action of a page', press, 'not_the_plan_file'],
  ['chained voice', speak, 'not_the_plan_file'],
  ['realtime voice', converse, 'not_the_plan_file'],
];

function mcpCall(serverTool: string): ToolCall {
  const { manifest } = server;
  return {
    source: 'mcp',
    tool: `mcp__files__${serverTool}`,
    serverName: 'files',
    server,
    serverTool,
    manifest,
  };
}

const onDisk = () => readdir(folder);

describe('every surface', () => {
  it.each(surfaces)('[PM-21, PM-23, PM-24] writes nothing while planning: %s', async (_what, act, reason) => {
    const executor = executorOf(session.gate);
    session.enter('api');
    const planned = await act(executor, target);

    expect(planned).toMatchObject({
      kind: 'refused',
      refusal: { error_code: 'plan_mode_blocked', reason, session_id: 'session-1' },
    });
    expect(await onDisk()).toEqual([]);
    expect(planned.kind === 'refused' && toolErrorOf(planned.refusal).isError).toBe(true);
  });

  it.each(surfaces)('[PM-21] really writes before planning and after it: %s', async (_what, act) => {
    const executor = executorOf(session.gate);
    expect((await act(executor, target)).kind).toBe('done');
    expect(await readFile(target.path, 'utf8')).toBe('written');

    session.enter('api');
    await act(executor, { ...target, text: 'while planning' });
    expect(await readFile(target.path, 'utf8')).toBe('written');

    session.exit('user');
    expect((await act(executor, { ...target, text: 'afterwards' })).kind).toBe('done');
    expect(await readFile(target.path, 'utf8')).toBe('afterwards');
  });
});

describe('an agent under a session', () => {
  it('[PM-24] that runs already is held from the moment its parent plans', async () => {
    const child = new Agent(session.gate);
    expect((await child.turn(target)).kind).toBe('done');

    session.enter('api');
    expect(await child.turn({ ...target, text: 'too late' })).toMatchObject({ kind: 'refused' });
    expect(await readFile(target.path, 'utf8')).toBe('written');
  });

  it('[PM-24] is held under its parent too: its own agents have the same gate', async () => {
    const gates: Gate[] = [];
    const nest = (gate: Gate, depth: number): HostExecutor =>
      createExecutor({
        gate,
        async run(_call, write: Write, own): Promise<string> {
          gates.push(own);
          if (depth > 0) {
            const nested = await nest(own, depth - 1).execute({ source: 'agent-spawn', tool: 'Task' }, write);
            return nested.kind;
          }
          session.enter('api');
          return (await executorOf(own).execute(builtin(write, 'sub-agent'), write)).kind;
        },
      });
    const spawned = await nest(session.gate, 2).execute({ source: 'agent-spawn', tool: 'Task' }, target);

    expect(spawned.kind).toBe('done');
    expect(gates).toEqual([session.gate, session.gate, session.gate]);
    expect(await onDisk()).toEqual([]);
  });
});

describe('while planning, on the disk', () => {
  it('[PM-26] the plan file is written, and nothing beside it, also where a name leads elsewhere', async () => {
    const executor = executorOf(session.gate);
    session.enter('api');
    await symlink(target.path, join(folder, 'plan-link.md'));
    const write = (path: string) => executor.execute(builtin({ path, text: '# Plan' }, 'chat'), target);

    expect((await write(planFile.path)).kind).toBe('done');
    expect((await write(join(folder, 'x', '..', 'plan.md'))).kind).toBe('done');
    for (const path of ['plan.md2', 'PLAN.md', 'plan-link.md', 'plan.md/x', 'plan.md\0.txt'])
      expect((await write(join(folder, path))).kind).toBe('refused');
    expect((await onDisk()).toSorted((a, b) => a.localeCompare(b))).toEqual(['plan-link.md', 'plan.md']);
  });

  it('[PM-23] a listed tool of a server runs, and its neighbour does not', async () => {
    const trusted = [{ server: 'files', tool: 'stat_file' }];
    const { gate } = new PlanSession({
      sessionId: 'session-2',
      planModeRequired: false,
      mode: 'plan',
      trustedReadOnlyTools: trusted,
    });
    const executor = executorOf(gate);

    expect(await executor.execute(mcpCall('stat_file'), target)).toEqual({
      kind: 'done',
      output: 'stat_file done',
    });
    expect((await executor.execute(mcpCall('write_file'), target)).kind).toBe('refused');
    expect(await onDisk()).toEqual([]);
  });
});
