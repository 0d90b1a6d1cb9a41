import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createToken } from '@placet/mailbox/signing';
import { maxTokenLifetimeMs, PlacetError } from '@placet/protocol';
import { openKeys, publicKeysFile, teammatePrincipal } from '../connection/local-tokens.ts';
import type { Settings } from '../settings/load-settings.ts';
import type { World } from '../world.ts';
import { logFileOf } from './service-log.ts';

/** How long the teammate may take to start, in milliseconds. */
const startWithinMs = 30_000;
/** How long it may take to stop beyond what implementing agents are granted, in milliseconds. */
const stopWithinMs = 5000;
/** How long is waited before a teammate that ended by itself is started again, in milliseconds. */
const restartAfterMs = 2000;

/** What the built-in teammate is started with. */
export interface TeammateChildOptions {
  world: World;
  settings: Settings;
  redisUrl: string;
  dataDir: string;
  /** Folders below which it may work. */
  roots: string[];
  /** Says what is being done. */
  say: (line: string) => void;
}

/** The built-in teammate: a process of its own that ends with us, also when we are killed. */
export interface TeammateChild {
  close: () => Promise<void>;
}

/**
 * Starts the built-in teammate and answers when it takes jobs. It notices by its channel to us that we are gone. One
 * that ends by itself is started again.
 * @throws PlacetError `internal` naming its log when it does not start
 */
export async function startTeammateChild(options: TeammateChildOptions): Promise<TeammateChild> {
  const log = openSync(
    await logFileOf(options.dataDir, `teammate-${options.settings.config.teammate}`),
    'a',
    0o600,
  );
  try {
    const child = await startWith(log, options);
    return { close: () => child.close().finally(() => closeSync(log)) };
  } catch (error) {
    closeSync(log);
    throw error;
  }
}

async function startWith(log: number, options: TeammateChildOptions): Promise<TeammateChild> {
  const launch = await launcherOf(log, options);
  const closing = new AbortController();
  const first = launch();
  await untilStarted(first, options);
  const kept = keepRunning(first, launch, options, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await kept;
    },
  };
}

async function launcherOf(log: number, options: TeammateChildOptions): Promise<() => ChildProcess> {
  const { world, settings, dataDir, redisUrl, roots } = options;
  const { team, teammate, logLevel } = settings.config;
  const owner = teammatePrincipal(teammate);
  const { token } = await createToken(await (await openKeys(dataDir)).activeSigner(), {
    principal: owner,
    role: 'teammate',
    kind: 'agent',
    teams: [team],
    teammate,
    owner,
    expiresInMs: maxTokenLifetimeMs,
    nowMs: Date.now(),
  });
  const program = fileURLToPath(new URL('../bin.js', import.meta.url));
  const env = {
    ...world.env,
    PLACET_REDIS_URL: redisUrl,
    PLACET_TOKEN: token,
    PLACET_DATA: dataDir,
    // The keys are those of this folder, whatever other teammates are told.
    PLACET_JWKS_FILE: publicKeysFile(dataDir),
    PLACET_JWKS_URL: '',
    PLACET_KEY_THUMBPRINTS: '',
    PLACET_CONFIG: settings.projectFile ?? '',
    PLACET_ROOTS: roots.join(','),
    PLACET_LOG_LEVEL: logLevel,
  };
  const args = ['teammate', '--team', team, '--name', teammate, '--plan-mode-required', '--end-with-parent'];
  return () =>
    spawn(process.execPath, [program, ...args], {
      cwd: world.cwd,
      env,
      // A group of its own: a signal to our group must not reach it before we say so.
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
}

async function untilStarted(
  child: ChildProcess,
  { world, dataDir, settings }: TeammateChildOptions,
): Promise<void> {
  const tooLate = AbortSignal.any([AbortSignal.timeout(startWithinMs), world.signal]);
  const ended = once(child, 'exit', { signal: tooLate }).then(() => false);
  const ready = once(child, 'message', { signal: tooLate }).then(() => true);
  const started = await Promise.race([ended, ready]).catch(() => false);
  await Promise.allSettled(started ? [] : [stop(child, 0)]);
  ended.catch(() => undefined); // whichever lost the race is over with the signal
  ready.catch(() => undefined);
  world.signal.throwIfAborted();
  if (!started)
    throw new PlacetError(
      'internal',
      `the teammate does not start: see ${dataDir}/logs/teammate-${settings.config.teammate}.log`,
    );
}

async function keepRunning(
  first: ChildProcess,
  launch: () => ChildProcess,
  { say, settings }: TeammateChildOptions,
  closing: AbortSignal,
): Promise<void> {
  let child = first;
  for (;;) {
    await untilEnded(child, closing);
    if (closing.aborted) return stop(child, settings.config.shutdownGraceMs + stopWithinMs);
    say(
      `the teammate ${settings.config.teammate} ended by itself (${child.signalCode ?? `exit code ${child.exitCode}`}); starting it again`,
    );
    await pause(restartAfterMs, undefined, { signal: closing }).catch(() => undefined); // the loop sees it
    if (closing.aborted) return;
    child = launch();
  }
}

async function untilEnded(child: ChildProcess, closing: AbortSignal): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await once(child, 'exit', { signal: closing }).catch(() => undefined); // aborted: the caller sees it
}

/** Asks it to end and, when it does not in time, ends it with all that it started. */
async function stop(child: ChildProcess, withinMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => killGroup(child.pid), withinMs);
  try {
    await ended;
  } finally {
    clearTimeout(kill);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ESRCH') throw error;
  }
}
