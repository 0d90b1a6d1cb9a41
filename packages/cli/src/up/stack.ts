import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type LeadProcess, startLeadProcess } from '@placet/lead';
import { findRedisEngine, startManagedRedis, startOfProcess } from '@placet/mailbox';
import { type Config, PlacetError } from '@placet/protocol';
import { findRunIn } from '../connection/discover.ts';
import { type RunFile, removeRunFile, writeRunFile } from '../connection/run-file.ts';
import type { Settings } from '../settings/load-settings.ts';
import type { World } from '../world.ts';
import { logFileOf, openLog } from './service-log.ts';
import { whenSuitable } from './suitable-redis.ts';
import { startTeammateChild } from './teammate-child.ts';

/** What is started, and where. */
export interface StackOptions {
  world: World;
  settings: Settings;
  dataDir: string;
  withTeammate: boolean;
  /** Folders below which the built-in teammate may work. */
  roots: string[];
  /** Says what is being done. */
  say: (line: string) => void;
}

/** Everything that `placet up` starts on one machine. */
export interface Stack {
  run: RunFile;
  /** Stops all of it, in the order that loses nothing; nothing is left running. */
  close: () => Promise<void>;
}

/**
 * Starts a private Redis, the lead service and the built-in teammate, and answers when everything answers (WR-42). What
 * was started is stopped again when a later part cannot start.
 * @throws PlacetError `data_in_use` when another process serves this data folder
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  await chmod(options.dataDir, 0o700);
  const dataDir = await realpath(options.dataDir);
  // It may lie in a repository, whose Git must not take what changes here for somebody's work.
  await writeFile(join(dataDir, '.gitignore'), '*\n');
  await refuseSecond(dataDir);
  const closers: (() => Promise<void>)[] = [];
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll(closers, options.say));
  try {
    const run = await startParts({ ...options, dataDir }, (closer) => closers.push(closer));
    return { run, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type KeepForClose = (closer: () => Promise<void>) => void;

async function startParts(options: StackOptions, keep: KeepForClose): Promise<RunFile> {
  const { world, settings, dataDir, say } = options;
  const { config } = settings;
  const redisUrl = config.redisUrl ?? (await startRedis(options, keep));
  await whenSuitable(redisUrl, config, world.signal, () => say('waiting for Redis'));
  const log = openLog(config.logLevel, await logFileOf(dataDir, 'lead'));
  say('starting the lead service');
  const lead = await startLead({ config, redisUrl, dataDir, log }, settings.sources.port === 'default', say);
  keep(() => lead.close());
  await untilReady(lead.url, world.signal);
  if (options.withTeammate) {
    say(`starting the teammate ${config.teammate}`);
    const child = await startTeammateChild({ ...options, dataDir, redisUrl });
    keep(() => child.close());
  }
  const run: RunFile = {
    v: 1,
    pid: process.pid,
    startedAt: (await startOfProcess(process.pid)) ?? '',
    url: lead.url,
    redisUrl,
    dataDir,
    team: config.team,
    ...(options.withTeammate && { teammate: config.teammate }),
  };
  await writeRunFile(run);
  keep(() => removeRunFile(dataDir));
  return run;
}

async function startRedis(
  { world, dataDir, settings, say }: StackOptions,
  keep: KeepForClose,
): Promise<string> {
  const engine = await findRedisEngine({
    path: world.env.PATH ?? '',
    engineDir: join(dataDir, 'engine'),
    say,
    proxies: proxiesOf(world),
    signal: world.signal,
    ...(world.stdin.isTTY && { confirm: (question: string) => confirm(world, question) }),
  });
  say(`starting a private Redis (${engine.program})`);
  const log = openLog(settings.config.logLevel, await logFileOf(dataDir, 'redis'));
  const redis = await startManagedRedis({
    dataDir,
    engine,
    log,
    durability: settings.config.durability,
    signal: world.signal,
  });
  keep(() => redis.close());
  // Someone else's care means another `placet up` on this folder, one that is just starting or stopping.
  if (redis.adopted) throw inUse(dataDir, 'its Redis is in the care of another process');
  return redis.url;
}

function proxiesOf({ env }: World): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

async function confirm({ stdin, stderr, signal }: World, question: string): Promise<boolean> {
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    terminal.close();
  }
}

type LeadOptions = Parameters<typeof startLeadProcess>[0];

/** Nobody chose the usual port, so another one will do when it is taken. */
async function startLead(
  options: LeadOptions,
  anyPort: boolean,
  say: StackOptions['say'],
): Promise<LeadProcess> {
  const { host, port } = options.config;
  try {
    return await startLeadProcess(options);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error;
    if (!anyPort)
      throw new PlacetError(
        'usage',
        `port ${port} of ${host} is taken: choose another with --port, or --port 0 for a free one`,
      );
    say(`port ${port} is taken; taking a free one`);
    const config: Config = { ...options.config, port: 0 };
    return startLeadProcess({ ...options, config });
  }
}

async function refuseSecond(dataDir: string): Promise<void> {
  const run = await findRunIn(dataDir);
  if (run) throw inUse(dataDir, `process ${run.pid} serves it at ${run.url}`);
}

function inUse(dataDir: string, detail: string): PlacetError {
  return new PlacetError('data_in_use', `${dataDir} is in use: ${detail}`);
}

/** Waits until the service can do its work. */
async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  while ((await statusOf(url, signal)) !== 200) await pause(100, undefined, { signal });
}

async function statusOf(url: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(new URL('/readyz', url), { signal });
  await response.arrayBuffer();
  return response.status;
}

async function closeAll(closers: (() => Promise<void>)[], say: StackOptions['say']): Promise<void> {
  for (const closer of closers.reverse()) {
    try {
      await closer();
    } catch (error) {
      // The rest must be stopped all the same.
      say(`while stopping: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
