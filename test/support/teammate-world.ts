import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  createOwnerProof,
  createToken,
  OutboxRelay,
  queueName,
  queuePrefix,
  TaskQueues,
} from '@placet/mailbox';
import {
  AgentProfile,
  type Job,
  type Log,
  newSessionId,
  type RequestRecord,
  type TaskPhase,
  type TaskRecord,
} from '@placet/protocol';
import { createTeammate, type Teammate, type TeammateOptions, type TeammateSettings } from '@placet/teammate';
import { type LeadKey, LeadProcess, makeLeadKey } from './decision-world.ts';
import { eventually } from './eventually.ts';
import { type FaultProcess, startFaultProcess } from './fault-process.ts';
import { uniqueTeam } from './redis-server.ts';
import type { TeammateSpec } from './teammate-entry.ts';

/** What an agent of a test does, as shell text; both run in the task's tree. */
export interface AgentScript {
  plan?: string;
  implement?: string;
  timeoutMs?: number;
}

const teammateName = 'worker';
/** How long a step may take on a machine that is busy with other tests, in milliseconds. */
const patienceMs = 60_000;
const defaultSettings: TeammateSettings = {
  leaseMs: 1500,
  deadlineMs: 60_000,
  maxRevisions: 3,
  permissionCeiling: 'bypassPermissions',
  onBaseMoved: 'notice',
  plansDirectory: undefined,
};

/** Writes the plan that most tests are happy with. */
export const writePlan = 'printf "# Plan\\n\\nWrite done.txt.\\n" > "$PLACET_PLAN_FILE"';
/** Does what that plan says. */
const writeDone = 'echo "$PLACET_PERMISSION_MODE" > done.txt';

/**
 * A team with one teammate, a lead that decides through the library, a relay, and a Git repository to work on. Agents
 * are real processes, the queue and the store a real Redis.
 */
export class TeammateWorld {
  readonly team: string;
  readonly name = teammateName;
  readonly folder: string;
  readonly repository: string;
  /** Where this teammate's processes on this host keep their things. */
  readonly dataDir: string;
  readonly lead: LeadProcess;
  readonly key: LeadKey;
  readonly queues: TaskQueues;
  readonly agents: Record<string, AgentProfile> = {};
  readonly logged: { level: string; fields: object; message: string }[] = [];
  readonly #relay: OutboxRelay;
  readonly #teammates: Teammate[] = [];
  readonly #processes: FaultProcess[] = [];
  readonly redisUrl: string;
  readonly #ownerProof: string;

  private constructor(
    redisUrl: string,
    team: string,
    folder: string,
    lead: LeadProcess,
    key: LeadKey,
    ownerProof: string,
  ) {
    this.redisUrl = redisUrl;
    this.team = team;
    this.folder = folder;
    this.repository = join(folder, 'repository');
    this.dataDir = join(folder, 'placet', 'teammates', `${team}.${teammateName}`);
    this.lead = lead;
    this.key = key;
    this.#ownerProof = ownerProof;
    this.queues = new TaskQueues(lead.handle);
    this.#relay = new OutboxRelay({ handle: lead.handle, queues: this.queues, teams: lead.mailbox.teams });
  }

  static async open(redisUrl: string, team = uniqueTeam()): Promise<TeammateWorld> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-teammate-')));
    const key = await makeLeadKey();
    const lead = await LeadProcess.start(redisUrl, key);
    const ownership = { team, teammate: teammateName, owner: 'local:bob' };
    const proof = await createOwnerProof(key.signer, ownership, Date.now());
    const world = new TeammateWorld(redisUrl, team, folder, lead, key, proof);
    await mkdir(world.repository);
    await world.git('init', '--quiet', '--initial-branch=main');
    await world.commit({ 'README.md': 'read me\n', '.gitignore': 'ignored/\n' });
    world.agent('codemod', { plan: writePlan, implement: writeDone });
    world.#relay.start();
    return world;
  }

  /** Adds an agent profile for teammates that are made after this. */
  agent(name: string, { plan = writePlan, implement = writeDone, timeoutMs = 20_000 }: AgentScript): void {
    const script = `set -e; if [ "$PLACET_PHASE" = plan ]; then ${plan}\nelse ${implement}\nfi`;
    this.agents[name] = AgentProfile.parse({ command: ['sh', '-c', script], timeoutMs });
  }

  /** A process of the teammate within this one. */
  async teammate(
    changes: Partial<Omit<TeammateOptions, 'settings'>> & { settings?: Partial<TeammateSettings> } = {},
  ): Promise<Teammate> {
    const { handle, mailbox } = this.lead;
    const teammate = createTeammate({
      port: mailbox.port(this.team, this.name, { owner: 'local:bob', ownerProof: this.#ownerProof }),
      queue: {
        connection: handle.workerConnection(),
        prefix: queuePrefix(this.team, this.name),
        name: queueName,
      },
      keys: this.key.keys,
      agents: this.agents,
      baseFolder: this.folder,
      roots: [this.folder],
      dataDir: this.dataDir,
      concurrency: 1,
      shutdownGraceMs: 100,
      environment: process.env,
      log: this.#log(),
      ...changes,
      settings: { ...defaultSettings, ...changes.settings },
    });
    this.#teammates.push(teammate);
    await teammate.start();
    return teammate;
  }

  /** A process of the teammate, as `placet teammate` starts one; it may be told to kill itself after a step. */
  async process(spec: Partial<TeammateSpec> = {}): Promise<FaultProcess> {
    const { dataDir = join(this.folder, 'placet'), values = {}, ...rest } = spec;
    const { token } = await createToken(this.key.signer, {
      principal: `teammate:${this.name}`,
      role: 'teammate',
      kind: 'agent',
      teams: [this.team],
      teammate: this.name,
      owner: 'local:bob',
      nowMs: Date.now(),
    });
    const jwksFile = join(this.folder, 'jwks.json');
    await writeFile(
      jwksFile,
      JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: this.key.x, kid: this.key.kid }] }),
    );
    const whole: TeammateSpec = {
      redisUrl: this.redisUrl,
      dataDir,
      baseFolder: this.folder,
      ...rest,
      values: {
        team: this.team,
        teammate: this.name,
        token,
        jwksFile,
        planModeRequired: true,
        leaseMs: 1500,
        roots: [this.folder],
        agents: this.agents,
        shutdownGraceMs: 0,
        ...values,
      },
    };
    const started = startFaultProcess({
      program: 'test/support/teammate-entry.ts',
      env: { TEAMMATE: JSON.stringify(whole) },
    });
    this.#processes.push(started);
    await started.untilSaid((line) => line === 'ready' || undefined);
    return started;
  }

  /** Puts a task into the teammate's queue; answers its session. */
  async task(changes: Partial<Job> = {}): Promise<string> {
    const sessionId = newSessionId();
    const job: Job = {
      task: 'Do the work',
      team: this.team,
      cwd: this.repository,
      agent: 'codemod',
      ...changes,
    };
    await this.queues.enqueueTask(this.team, this.name, job, sessionId);
    return sessionId;
  }

  record(sessionId: string): Promise<TaskRecord | undefined> {
    return this.lead.mailbox.tasks.get({ team: this.team, teammate: this.name, sessionId });
  }

  /** Waits until the task is in a phase. */
  untilPhase(sessionId: string, phase: TaskPhase, withinMs = patienceMs): Promise<TaskRecord> {
    let last: TaskRecord | undefined;
    return eventually(
      async () => {
        last = await this.record(sessionId);
        return last?.phase === phase ? last : undefined;
      },
      { withinMs, what: `phase ${phase}` },
    ).catch((cause: unknown) => {
      throw new Error(`the task is ${last?.phase}: ${last?.reason}\n${this.#lastLines()}`, { cause });
    });
  }

  /** Waits until the work is done and its branch is there; answers the branch. */
  async untilPublished(sessionId: string): Promise<string> {
    const { branch = '', commit = '' } = await this.untilPhase(sessionId, 'done');
    await eventually(async () => (await this.git('rev-parse', '--verify', branch)) === commit, {
      what: `branch ${branch}`,
    });
    return branch;
  }

  /** Waits for the plan of a revision, and answers its request. */
  untilPlanned(sessionId: string, revision = 1): Promise<RequestRecord> {
    return eventually(
      async () => {
        const task = await this.record(sessionId);
        if (task?.phase === 'failed') throw new Error(`the task failed: ${task.reason}`);
        const request = task?.requestId && (await this.lead.mailbox.requests.get(this.team, task.requestId));
        return request && request.revision === revision ? request : undefined;
      },
      { withinMs: patienceMs, what: `plan ${revision}` },
    );
  }

  request(requestId: string): Promise<RequestRecord | undefined> {
    return this.lead.mailbox.requests.get(this.team, requestId);
  }

  async alarms(): Promise<string[]> {
    const { events } = await this.lead.mailbox.events.read(this.team, undefined, 1000);
    return events.filter(({ type }) => type === 'alarm').map((event) => String(event.code));
  }

  /** Runs Git in the repository and answers what it printed. */
  async git(...args: string[]): Promise<string> {
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    const { stdout } = await promisify(execFile)('git', [...person, ...args], { cwd: this.repository });
    return stdout.trim();
  }

  async commit(files: Record<string, string>): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(this.repository, name, '..'), { recursive: true });
      await writeFile(join(this.repository, name), text);
    }
    await this.git('add', '--all');
    await this.git('commit', '--quiet', '-m', 'change');
    return this.git('rev-parse', 'HEAD');
  }

  async close(): Promise<void> {
    await Promise.all(this.#teammates.map((teammate) => teammate.close()));
    await Promise.all(this.#processes.map((started) => started.kill9()));
    await this.#relay.close();
    await this.queues.close();
    await this.lead.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #lastLines(): string {
    const own = this.logged.map(
      ({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`,
    );
    const others = this.#processes.map((started) => started.said().split('\n').slice(-15).join('\n'));
    return [own.slice(-20).join('\n'), ...others].join('\n---\n');
  }

  #log(): Log {
    const take = (level: string) => (fields: object, message: string) => {
      this.logged.push({ level, fields, message });
    };
    return { debug: take('debug'), info: take('info'), warn: take('warn'), error: take('error') };
  }
}
