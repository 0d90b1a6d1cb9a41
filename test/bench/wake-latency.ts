import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import {
  connectRedis,
  createMailbox,
  decideRequest,
  type Mailbox,
  OutboxRelay,
  queueName,
  queuePrefix,
  type RedisHandle,
  TaskQueues,
} from '@placet/mailbox';
import { type RequestRecord, silentLog } from '@placet/protocol';
import { type AgentRuntime, createTeammate } from '@placet/teammate';
import { Queue, Worker } from 'bullmq';
import { eventually } from '../support/eventually.ts';
import { quantile } from './measure.ts';
import { createLeadKey, defaultPolicyDigest, owner, team, teammate } from './workload.ts';

/** What one round says, in milliseconds. */
export interface WakeRound {
  placetP50: number;
  placetP99: number;
  floorP50: number;
  floorP99: number;
}

type LeadKey = Awaited<ReturnType<typeof createLeadKey>>;

/**
 * PF-1: from sending a decision of a parked plan until its work is claimed under the verified decision and goes on. The
 * relay, the lead's library and the teammate are the product's; only the agent is none. The floor is one script call
 * and one BullMQ job that becomes active. One at a time, in turns, so that both meet the same machine.
 */
async function main(): Promise<void> {
  const [url = '', count = '300', rounds = '3'] = process.argv.slice(2);
  const handle = connectRedis({ url, name: 'bench-wake', timeoutMs: 30_000 });
  await handle.ready();
  const key = await createLeadKey();
  const samples = Math.min(Number(count), 300);
  for (let round = 0; round < Number(rounds); round += 1) {
    await handle.redis.flushall();
    const result = await measureRound(handle, key, samples);
    console.log(JSON.stringify(result));
  }
  await handle.close();
}

async function measureRound(handle: RedisHandle, key: LeadKey, samples: number): Promise<WakeRound> {
  const floor = await startFloor(handle);
  const placet = await startPlacet(handle, key);
  try {
    const parked = await placet.park(samples + 20);
    const placetMs: number[] = [];
    const floorMs: number[] = [];
    for (const [index, record] of parked.entries()) {
      const [ours, theirs] = [await placet.wake(record), await floor.wake(index)];
      if (index < 20) continue; // warms up both
      placetMs.push(ours);
      floorMs.push(theirs);
    }
    return {
      placetP50: quantile(placetMs, 0.5),
      placetP99: quantile(placetMs, 0.99),
      floorP50: quantile(floorMs, 0.5),
      floorP99: quantile(floorMs, 0.99),
    };
  } finally {
    await placet.close();
    await floor.close();
  }
}

/** Lets each waiter go when its name is called. */
class Calls {
  readonly #waiting = new Map<string, () => void>();

  next(name: string): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.set(name, () => {
        resolve(performance.now());
      });
    });
  }

  call(name: string): void {
    this.#waiting.get(name)?.();
    this.#waiting.delete(name);
  }
}

async function startFloor(handle: RedisHandle) {
  const calls = new Calls();
  const retryStrategy = () => 100;
  const connection = { ...handle.options, retryStrategy, maxRetriesPerRequest: null };
  const prefix = '{floor}';
  const queue = new Queue('floor', { connection, prefix, defaultJobOptions: { removeOnComplete: true } });
  const worker = new Worker<{ name: string }>('floor', (job) => Promise.resolve(calls.call(job.data.name)), {
    connection,
    prefix,
  });
  await worker.waitUntilReady();
  const script = "redis.call('SET', KEYS[1], ARGV[1]) return 1";
  const bytes = randomBytes(1024);
  return {
    async wake(index: number): Promise<number> {
      const name = `wake-${index}`;
      const awake = calls.next(name);
      const startedAtMs = performance.now();
      await handle.redis.eval(script, 1, `{floor}:${name}`, bytes);
      await queue.add('wake', { name }, { jobId: name });
      return (await awake) - startedAtMs;
    },
    async close(): Promise<void> {
      await worker.close();
      await queue.close();
    },
  };
}

async function startPlacet(handle: RedisHandle, key: LeadKey) {
  const folder = await mkdtemp(join(tmpdir(), 'placet-bench-'));
  const project = join(folder, 'project');
  await mkdir(project);
  const mailbox = createMailbox(handle);
  const queues = new TaskQueues(handle);
  const relay = new OutboxRelay({ handle, queues, teams: mailbox.teams });
  relay.start();
  const calls = new Calls();
  const worker = createTeammate({
    port: mailbox.port(team, teammate, { owner, ownerProof: key.ownerProof }),
    queue: { connection: handle.options, prefix: queuePrefix(team, teammate), name: queueName },
    keys: key.keys,
    agents: { none: { runtime: 'command', command: ['true'], env: {}, timeoutMs: 60_000 } },
    baseFolder: folder,
    roots: [folder],
    dataDir: join(folder, 'teammate'),
    settings: {
      leaseMs: 30_000,
      deadlineMs: 3_600_000,
      maxRevisions: 10,
      permissionCeiling: 'bypassPermissions',
      onBaseMoved: 'notice',
      plansDirectory: undefined,
    },
    concurrency: 8,
    shutdownGraceMs: 1000,
    environment: { PATH: process.env.PATH },
    log: silentLog,
    runtime: noAgent(),
    checkpoint: (name, sessionId) => {
      if (name === 'work-claimed') calls.call(sessionId);
    },
  });
  await worker.start();
  return {
    park: (count: number) => park({ mailbox, queues, project, count }),
    async wake(record: RequestRecord): Promise<number> {
      const awake = calls.next(record.sessionId);
      const startedAtMs = performance.now();
      await approve(mailbox, key, record);
      return (await awake) - startedAtMs;
    },
    async close(): Promise<void> {
      await worker.close();
      await relay.close();
      await queues.close();
      await mailbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Plans in a line and has nothing to implement: what is measured is the way there. */
function noAgent(): AgentRuntime {
  const plan: AgentRuntime['plan'] = async ({ planFilePath, sessionId }) => {
    await writeFile(planFilePath, `# Plan of ${sessionId}\n\nNothing is changed.\n`);
    return { kind: 'finished' };
  };
  return {
    plan,
    resume: plan,
    interrupt: () => Promise.resolve(),
    implement: async (_session, work) => {
      await work.confirmMode(work.permissionMode);
      return { kind: 'finished' };
    },
  };
}

interface Parking {
  mailbox: Mailbox;
  queues: TaskQueues;
  project: string;
  count: number;
}

/** Has `count` tasks planned and waits until each is parked. */
async function park({ mailbox, queues, project, count }: Parking): Promise<RequestRecord[]> {
  for (let index = 0; index < count; index += 1)
    await queues.enqueueTask(team, teammate, { task: `task ${index}`, team, cwd: project, agent: 'none' });
  const pending = async () => {
    const records: RequestRecord[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await mailbox.requests.list(team, { state: 'pending', limit: 200, cursor });
      records.push(...page.requests);
      cursor = page.nextCursor;
      if (cursor === undefined) return records;
    }
  };
  let records: RequestRecord[] = [];
  await eventually(
    async () => {
      records = await pending();
      const { active, waiting } = await queues.counts(team, teammate);
      return records.length === count && active + waiting === 0;
    },
    { withinMs: 120_000, what: 'parking' },
  );
  return records;
}

async function approve(mailbox: Mailbox, { signer }: LeadKey, record: RequestRecord): Promise<void> {
  await decideRequest(
    { requests: mailbox.requests, signer },
    {
      team,
      record,
      outcome: 'approved',
      planDigest: record.plan.digest,
      permissionMode: 'acceptEdits',
      context: 'keep',
      decidedBy: 'local:bench',
      notAfterMs: 3_600_000,
      policyDigest: defaultPolicyDigest,
      notices: [],
    },
  );
}

await main();
