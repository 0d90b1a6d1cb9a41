import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGate, storedPlan } from '@placet/plan-mode';
import { AgentProfile, silentLog } from '@placet/protocol';
import {
  type AgentSession,
  CommandRuntime,
  confinements,
  endLeftover,
  type GrantedWork,
  identityOf,
  minimalEnvironment,
  Profiles,
} from '@placet/teammate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';

const environment = minimalEnvironment(process.env);
const open = createGate({ sessionId: 's', isPlanning: () => false });
const closed = createGate({ sessionId: 's', isPlanning: () => true });
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-runtime-')));
  for (const name of ['tree', 'plans', 'scratch']) await mkdir(join(folder, name));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function runtime(script: string, timeoutMs = 20_000): CommandRuntime {
  const profiles = new Profiles(
    { a: AgentProfile.parse({ command: ['sh', '-c', script], timeoutMs }) },
    folder,
  );
  const [confinement] = confinements.filter(({ protectsFolders }) => !protectsFolders);
  if (!confinement) throw new Error('there is no confinement to try');
  return new CommandRuntime({
    profiles,
    environment,
    confinements: { plan: confinement, implement: confinement },
  });
}

function session(changes: Partial<AgentSession> = {}): AgentSession {
  return {
    sessionId: 's',
    job: { task: 'do', team: 'main', cwd: folder, agent: 'a' },
    cwd: join(folder, 'tree'),
    protectedFolders: [join(folder, 'tree')],
    planFilePath: join(folder, 'plans', 'p.md'),
    scratchFolder: join(folder, 'scratch'),
    outputFile: join(folder, 'output.log'),
    feedback: undefined,
    revision: 1,
    gate: open,
    onRunning: () => Promise.resolve(),
    signal: new AbortController().signal,
    log: silentLog,
    ...changes,
  };
}

function work(changes: Partial<GrantedWork> = {}): GrantedWork {
  return {
    requestId: 'r',
    permissionMode: 'acceptEdits',
    plan: storedPlan('# Plan'),
    planEdited: false,
    decidedBy: 'local:ada',
    notices: [],
    startedBefore: false,
    confirmMode: () => Promise.resolve(true),
    ...changes,
  };
}

const did = () => readFile(join(folder, 'tree', 'did'), 'utf8').then(String, () => undefined);

describe('the command runtime', () => {
  it('[I6, TM-22] runs nothing where its confinement, which worked at the start, does not any more', async () => {
    const [mounting] = confinements.filter(({ protectsFolders }) => protectsFolders);
    if (!mounting) throw new Error('there is no confinement to try');
    const confined = new CommandRuntime({
      profiles: new Profiles({ a: AgentProfile.parse({ command: ['sh', '-c', 'echo hi > ran'] }) }, folder),
      environment,
      confinements: { plan: mounting, implement: mounting },
    });
    const missing = { protectedFolders: [join(folder, 'is-not-there')] };
    expect(await confined.plan(session(missing))).toMatchObject({ kind: 'failed', reason: 'agent_failed' });
    await expect(readFile(join(folder, 'tree', 'ran'))).rejects.toThrow('ENOENT');
  });

  it('[TM-20, I1] starts nothing for an implementation while the gate is closed', async () => {
    const outcome = await runtime('echo x > did').implement(session({ gate: closed }), work());

    expect(outcome).toMatchObject({ kind: 'failed', detail: expect.stringContaining('gate') });
    expect(await did()).toBeUndefined();
  });

  it('[TM-20] plans through a gate that is closed, for its tree is protected', async () => {
    expect(await runtime('true').plan(session({ gate: closed }))).toEqual({ kind: 'finished' });
  });

  it('[TM-11] reads the mode back from the process, and begins only when that is confirmed', async () => {
    const modes: string[] = [];
    const confirmMode = (mode: string) => {
      modes.push(mode);
      return Promise.resolve(false);
    };
    const outcome = await runtime('echo x > did').implement(session(), work({ confirmMode }));

    expect(outcome).toMatchObject({ kind: 'failed', reason: 'mode_mismatch' });
    expect(modes).toEqual(['acceptEdits']);
    expect(await did()).toBeUndefined();
  });

  it('[TM-16] says what runs before that does anything', async () => {
    const seen: (string | undefined)[] = [];
    await runtime('echo x > did').implement(
      session({
        onRunning: async ({ pid }) => {
          seen.push(await identityOf(pid), await did());
        },
      }),
      work(),
    );

    expect(seen).toEqual([expect.stringMatching(/^\d+:\d+:[0-9a-f]{12}$/), undefined]);
    expect(await did()).toBe('x\n');
  });

  it('[TM-22] ends an agent that takes too long, and one whose session aborts', async () => {
    expect(await runtime('sleep 30', 1000).implement(session(), work())).toMatchObject({
      kind: 'failed',
      reason: 'agent_failed',
      detail: 'no end within 1000 ms',
    });
    const abort = new AbortController();
    const running = runtime('echo x > did; sleep 30').implement(session({ signal: abort.signal }), work());
    await eventually(async () => (await did()) !== undefined);
    abort.abort();

    expect(await running).toEqual({ kind: 'interrupted' });
  });

  it('[TM-20] interrupts what runs for a session', async () => {
    const own = runtime('echo x > did; sleep 30');
    const running = own.implement(session(), work());
    await eventually(async () => (await did()) !== undefined);
    await own.interrupt('s');

    expect(await running).toMatchObject({ kind: 'failed', detail: 'exit code 137' });
    await own.interrupt('another');
  });

  it('[TM-22] bounds and keeps what an agent writes', async () => {
    const outcome = await runtime('head -c 3000000 /dev/zero | tr "\\0" x; echo the end >&2; exit 3').plan(
      session(),
    );
    const output = await readFile(join(folder, 'output.log'), 'utf8');

    expect(outcome).toMatchObject({ detail: 'exit code 3' });
    expect(output.length).toBeGreaterThan(1_000_000);
    expect(output.length).toBeLessThan(1_100_000);
    expect(output).toContain('cut off');
  });

  it('[TM-22] says so where the program cannot be started', async () => {
    const profiles = new Profiles({ a: AgentProfile.parse({ command: ['/no/such/program'] }) }, folder);
    const [confinement] = confinements.filter(({ protectsFolders }) => !protectsFolders);
    if (!confinement) throw new Error('there is no confinement to try');
    const own = new CommandRuntime({
      profiles,
      environment,
      confinements: { plan: confinement, implement: confinement },
    });

    expect(await own.plan(session())).toMatchObject({ kind: 'failed', reason: 'agent_failed' });
  });
});

describe('what a lost worker left running', () => {
  it('[TM-16] is ended with its group, by the one who has its pid and start time', async () => {
    const child = spawn('sh', ['-c', 'sleep 50 & sleep 50'], { detached: true, stdio: 'ignore' });
    const ended = once(child, 'exit');
    const identity = (await identityOf(child.pid ?? 0)) ?? '';
    const [pid = '', start = '', host = ''] = identity.split(':');

    for (const other of [
      `${pid}:${Number(start) + 1}:${host}`,
      `${pid}:${start}:000000000000`,
      `${pid}`,
      '',
      `1:${start}:${host}`,
      `-1:${start}:${host}`,
    ])
      expect(await endLeftover(other), other).toBe(false);
    expect(child.signalCode).toBeNull();
    expect(await endLeftover(identity)).toBe(true);
    await ended;
    expect(child.signalCode).toBe('SIGKILL');
    expect(await endLeftover(identity)).toBe(false);
  });

  it('[TM-16] is nothing where the process is gone', async () => {
    const child = spawn('true');
    await once(child, 'exit');

    expect(await identityOf(child.pid ?? 0)).toBeUndefined();
  });
});
