import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  connectRedis,
  createMailbox,
  JwksSource,
  OutboxRelay,
  queueName,
  queuePrefix,
  TaskQueues,
  verifyToken,
} from '@placet/mailbox';
import { AgentProfile, type Config, type Log, PlacetError, type TokenClaims } from '@placet/protocol';
import type { OnCheckpoint } from './checkpoints.ts';
import { createTeammate, type Teammate } from './teammate.ts';

/** What a teammate's process is started with. */
export interface TeammateProcessOptions {
  config: Config;
  redisUrl: string;
  /** Used where the URL has no password. */
  redisPassword?: string | undefined;
  /** The data folder; a teammate's own lies in `teammates/<team>.<name>` below it. */
  dataDir: string;
  /** Where relative programs of profiles, and relative roots, are found from: the configuration file's folder. */
  baseFolder: string;
  environment: Readonly<Record<string, string | undefined>>;
  log: Log;
  /** For tests that kill between steps (TM-8). */
  checkpoint?: OnCheckpoint;
}

/** A teammate with all that it opened. */
export interface TeammateProcess {
  readonly teammate: Teammate;
  /** Stops taking jobs, waits for what is in hand as far as the grace allows, and closes what it stands on. */
  close(): Promise<void>;
}

/**
 * Starts one process of a teammate on a Redis of profile `shared` (TM-1, TM-50), whether that is there or not (OP-6).
 * @throws PlacetError `config_invalid` for what is missing or contradicts itself, `unauthenticated` for the token
 */
export async function startTeammateProcess(options: TeammateProcessOptions): Promise<TeammateProcess> {
  const { config, dataDir, baseFolder, environment, log, checkpoint } = options;
  const { team, teammate: name } = config;
  if (!config.planModeRequired)
    throw new PlacetError(
      'config_invalid',
      'a teammate of this release runs with --plan-mode-required and not without',
    );
  const keys = new JwksSource(keyLocation(config, dataDir), {
    onFault: (detail) => log.warn({ detail }, "the lead's keys"),
  });
  await keys.start();
  const claims = await ownClaims(config, keys).catch(async (thrown: unknown) => {
    await keys.close();
    throw thrown;
  });
  const stores = openStores(options);
  const { handle } = stores;
  const { owner = '', ownerProof } = claims;
  const teammate = createTeammate({
    port: stores.mailbox.port(team, name, { owner, ownerProof }),
    queue: { connection: handle.workerConnection(), prefix: queuePrefix(team, name), name: queueName },
    keys,
    agents: { ...exampleAgents(), ...config.agents },
    baseFolder,
    roots: config.roots.length > 0 ? config.roots : [baseFolder],
    dataDir: join(dataDir, 'teammates', `${team}.${name}`),
    settings: settingsOf(config),
    concurrency: config.concurrency,
    shutdownGraceMs: config.shutdownGraceMs,
    environment,
    log,
    ...(checkpoint && { checkpoint }),
  });
  const stopping = new AbortController();
  const close = async () => {
    stopping.abort();
    await teammate.close();
    await stores.close();
    await keys.close();
  };
  const suitable = handle.ready(stopping.signal);
  try {
    // One that is there and would lose what it is told is refused (TM-14); one that is not there is waited for (OP-6).
    await Promise.race([suitable, pause(firstLookMs)]);
    await teammate.start();
  } catch (thrown) {
    await close();
    throw thrown;
  }
  stores.relay.start();
  suitable.catch((err: unknown) => {
    if (stopping.signal.aborted) return;
    log.error({ err }, 'this Redis cannot be used: no more tasks are taken');
    void teammate.close();
  });
  return { teammate, close };
}

function openStores({ config, redisUrl, redisPassword, log }: TeammateProcessOptions) {
  const handle = connectRedis({
    url: redisUrl,
    password: redisPassword,
    name: `placet-teammate-${config.teammate}`,
    timeoutMs: config.storeTimeoutMs,
    durability: { profile: config.durability, replicas: config.replicas },
    log,
  });
  const { retentionMs, retentionCount, visibilityMs } = config;
  const mailbox = createMailbox(handle, { retentionMs, retentionCount, visibilityMs, log });
  const queues = new TaskQueues(handle);
  const relay = new OutboxRelay({ handle, queues, teams: mailbox.teams, log });
  const close = async () => {
    await relay.close();
    await mailbox.close();
    await queues.close();
    await handle.close();
  };
  return { handle, mailbox, relay, close };
}

/** How long a start waits for Redis to say what it is, in milliseconds. */
const firstLookMs = 1000;

function settingsOf(config: Config) {
  const { leaseMs, deadlineMs, maxRevisions, permissionCeiling, onBaseMoved, plansDirectory } = config;
  return { leaseMs, deadlineMs, maxRevisions, permissionCeiling, onBaseMoved, plansDirectory };
}

function keyLocation({ jwksFile, jwksUrl, keyThumbprints }: Config, dataDir: string) {
  if (jwksUrl !== undefined) return { url: jwksUrl, thumbprints: keyThumbprints };
  return { file: jwksFile ?? join(dataDir, 'jwks.json'), thumbprints: keyThumbprints };
}

/** Who this teammate is and who owns it, as its token says (WR-32). Whether it was revoked, the services ask. */
async function ownClaims({ token, team, teammate }: Config, keys: JwksSource): Promise<TokenClaims> {
  if (!token)
    throw new PlacetError(
      'config_invalid',
      'a teammate needs its token in PLACET_TOKEN: placet token create --role teammate makes one',
    );
  const revoked = { isRevoked: () => Promise.resolve(false) };
  const read = await verifyToken(token, keys, { revoked, nowMs: Date.now() });
  if (read.kind === 'invalid')
    throw new PlacetError('unauthenticated', `the teammate's token is not valid: ${read.reason}`);
  const { claims } = read;
  if (claims.role !== 'teammate' || claims.teammate !== teammate || !claims.teams.includes(team))
    throw new PlacetError('config_invalid', `the token is not that of teammate ${teammate} of team ${team}`);
  return claims;
}

/** The agents that come with the repository; a profile of the same name takes their place. */
function exampleAgents(): Record<string, AgentProfile> {
  const codemod = fileURLToPath(new URL('../../../docs/examples/codemod-agent/codemod.mjs', import.meta.url));
  return existsSync(codemod) ? { codemod: AgentProfile.parse({ command: [process.execPath, codemod] }) } : {};
}
