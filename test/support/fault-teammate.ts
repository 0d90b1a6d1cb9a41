import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  connectRedis,
  createMailbox,
  JwksSource,
  OutboxRelay,
  queueName,
  queuePrefix,
  TaskQueues,
} from '@placet/mailbox';
import type { Log } from '@placet/protocol';
import { type AgentRuntime, type Checkpoint, createTeammate, createTeammateLog } from '@placet/teammate';
import { z } from 'zod';

/** What a teammate's process of the fault suites is told, as JSON in FAULT_TEAMMATE. */
export const FaultTeammateSettings = z.strictObject({
  team: z.string(),
  teammate: z.string(),
  owner: z.string(),
  ownerProof: z.string(),
  redisUrl: z.string(),
  /** The teammate's own folder; processes of one teammate share it. */
  dataDir: z.string(),
  jwksFile: z.string(),
  roots: z.array(z.string()),
  /** Programs by agent name. Without any, agents are cheap ones in the process itself: `cheap` is the profile. */
  agents: z.record(z.string(), z.array(z.string())).default({}),
  concurrency: z.number().int().default(8),
  leaseMs: z.number().int().default(3000),
  /** Whether it relays wake-ups too, as a teammate of profile `shared` does. */
  relays: z.boolean().default(true),
  /** Where each piece of work that was begun is written down, one line each: session and request. */
  workLog: z.string(),
  /** The process kills itself (SIGKILL) when it reaches this step, the `killAfter`-th time. */
  killAt: z.string().optional(),
  killAfter: z.number().int().default(1),
});
export type FaultTeammateSettings = z.infer<typeof FaultTeammateSettings>;

/** What the process says of itself when it is asked for `stats <word>`. */
export const FaultTeammateStats = z.object({
  /** The word with which it was asked. */
  stats: z.string(),
  heapBytes: z.number(),
  rssBytes: z.number(),
  /** Timers, sockets and so on that keep the process alive, by kind. */
  resources: z.record(z.string(), z.number()),
});
export type FaultTeammateStats = z.infer<typeof FaultTeammateStats>;

/** A teammate as the product makes it, with a checkpoint that kills and, where none is given, a cheap agent. */
async function main(): Promise<void> {
  const settings = FaultTeammateSettings.parse(JSON.parse(process.env.FAULT_TEAMMATE ?? ''));
  const { team, teammate: name, owner, ownerProof, redisUrl } = settings;
  const log: Log = createTeammateLog({ level: 'warn' });
  const handle = connectRedis({ url: redisUrl, name: `fault-${name}`, log });
  const mailbox = createMailbox(handle, { log });
  const queues = new TaskQueues(handle);
  const relay = settings.relays ? new OutboxRelay({ handle, queues, teams: mailbox.teams, log }) : undefined;
  const keys = new JwksSource({ file: settings.jwksFile });
  await keys.start();
  const isCheap = Object.keys(settings.agents).length === 0;
  const teammate = createTeammate({
    port: mailbox.port(team, name, { owner, ownerProof }),
    queue: { connection: handle.workerConnection(), prefix: queuePrefix(team, name), name: queueName },
    keys,
    agents: isCheap ? { cheap: profileOf(['true']) } : mapValues(settings.agents, profileOf),
    baseFolder: settings.dataDir,
    roots: settings.roots,
    dataDir: settings.dataDir,
    settings: {
      leaseMs: settings.leaseMs,
      deadlineMs: 60 * 60 * 1000,
      maxRevisions: 10,
      permissionCeiling: 'bypassPermissions',
      onBaseMoved: 'notice',
      plansDirectory: undefined,
    },
    concurrency: settings.concurrency,
    shutdownGraceMs: 5000,
    environment: process.env,
    log,
    checkpoint: killerAt(settings),
    ...(isCheap && { runtime: new CheapRuntime(settings.workLog) }),
  });
  await teammate.start();
  relay?.start();
  process.stdout.write('started\n');
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [word, asked = ''] = line.split(' ');
    if (word === 'stats')
      void statsOf(asked).then((stats) => process.stdout.write(`${JSON.stringify(stats)}\n`));
  });
  process.once('SIGTERM', () => {
    void Promise.all([teammate.close(), relay?.close()]).finally(() => process.exit(0));
  });
}

/** Plans and works in this process, at once. */
class CheapRuntime implements AgentRuntime {
  readonly #workLog: string;

  constructor(workLog: string) {
    this.#workLog = workLog;
  }

  async plan(session: Parameters<AgentRuntime['plan']>[0]) {
    await writeFile(session.planFilePath, `# Plan\n\nDo ${session.job.task}\n`);
    return { kind: 'finished' } as const;
  }

  async implement(...[session, work]: Parameters<AgentRuntime['implement']>) {
    const verdict = session.gate({ tool: 'Write', source: 'builtin' });
    if (verdict.kind === 'refused' || !(await work.confirmMode(work.permissionMode)))
      return { kind: 'failed', reason: 'mode_mismatch', detail: 'the gate is closed' } as const;
    // Synchronous, so that a kill leaves the line whole or away.
    appendFileSync(this.#workLog, `${session.sessionId} ${work.requestId}\n`);
    await writeFile(join(session.cwd, 'done.txt'), work.requestId);
    return { kind: 'finished' } as const;
  }

  resume(session: Parameters<AgentRuntime['plan']>[0]) {
    return this.plan(session);
  }

  interrupt(): Promise<void> {
    return Promise.resolve();
  }
}

function killerAt({ killAt, killAfter }: FaultTeammateSettings): (name: Checkpoint) => void {
  let left = killAfter;
  return (name) => {
    if (name !== killAt) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

function profileOf(command: string[]) {
  return { runtime: 'command', command, env: {}, timeoutMs: 60_000 } as const;
}

function mapValues<From, To>(record: Record<string, From>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}

async function statsOf(asked: string): Promise<FaultTeammateStats> {
  // What is let go of only after the first collection is gone after the second.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, rss } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  return { stats: asked, heapBytes: heapUsed, rssBytes: rss, resources };
}

if (process.env.FAULT_TEAMMATE !== undefined) await main();
