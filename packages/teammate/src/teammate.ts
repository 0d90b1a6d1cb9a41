import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DecisionVerifier, type KeySource, type MailboxPort } from '@placet/mailbox';
import { type AgentProfile, type Clock, type Log, PlacetError, systemClock } from '@placet/protocol';
import type { AgentRuntime } from './agent-port.ts';
import type { OnCheckpoint } from './checkpoints.ts';
import { minimalEnvironment } from './command-agent/agent-environment.ts';
import { CommandRuntime } from './command-agent/command-runtime.ts';
import { detectConfinements } from './command-agent/detect-confinements.ts';
import { Journal } from './journal.ts';
import { Profiles } from './profiles.ts';
import type { TeammateParts, TeammateSettings } from './session-run.ts';
import { type QueuePlace, reportPresence, TeammateWorker, type WorkerHealth } from './worker.ts';
import { realRoots } from './workspace.ts';
import { Worktrees } from './worktree.ts';

/** What a teammate's process is made of. Times are milliseconds. */
export interface TeammateOptions {
  port: MailboxPort;
  /** Its own queue, and nothing else's (TM-1). */
  queue: QueuePlace;
  /** The lead's public keys, pinned (IN-2). */
  keys: KeySource;
  agents: Readonly<Record<string, AgentProfile>>;
  /** Where relative programs of profiles are found from. */
  baseFolder: string;
  /** Folders below which tasks may work. */
  roots: readonly string[];
  /** The teammate's own folder: journal, plans, trees. Processes of one teammate on a host share it. */
  dataDir: string;
  settings: TeammateSettings;
  concurrency: number;
  /** How long implementing agents may go on after `close` was called (TM-9). */
  shutdownGraceMs: number;
  /** This process' environment; agents get little of it. */
  environment: Readonly<Record<string, string | undefined>>;
  log: Log;
  clock?: Clock;
  /** Another runtime than the `command` one. */
  runtime?: AgentRuntime;
  /** For tests that kill between steps (TM-8). */
  checkpoint?: OnCheckpoint;
}

/** A teammate's process (TM-1). Every session it runs requires plan mode; no task can switch that off. */
export interface Teammate {
  /** Unique for this process and run. */
  readonly processName: string;
  /** Finds out what the system can do, opens the journal, takes jobs. Redis need not be there yet. */
  start(): Promise<void>;
  health(): WorkerHealth;
  /**
   * Takes no more jobs; planning ends at once and goes back to the queue, implementing may go on for the grace (TM-9).
   * Idempotent.
   */
  close(): Promise<void>;
}

/** How long a closing process waits for Redis to take back what it had, in milliseconds. */
const closeWithinMs = 5000;

/** Makes a teammate's process; nothing runs before `start`. */
export function createTeammate(options: TeammateOptions): Teammate {
  return new TeammateProcess(options);
}

class TeammateProcess implements Teammate {
  readonly processName = randomUUID();
  readonly #options: TeammateOptions;
  readonly #planningStops = new AbortController();
  readonly #implementingStops = new AbortController();
  readonly #presenceStops = new AbortController();
  #journal: Journal | undefined;
  #worker: TeammateWorker | undefined;
  #presence: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TeammateOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#worker) return;
    const { queue, concurrency, settings } = this.#options;
    const parts = await this.#makeParts();
    if (this.#closing) return;
    this.#worker = new TeammateWorker(parts, { queue, concurrency, lockMs: settings.leaseMs });
    this.#worker.start();
    this.#presence = reportPresence(parts, this.processName, settings.leaseMs, this.#presenceStops.signal);
    parts.log.info(
      { team: parts.port.team, teammate: parts.port.teammate, concurrency },
      'the teammate takes tasks',
    );
  }

  health(): WorkerHealth {
    return this.#worker?.health() ?? { running: false, activeJobs: 0, lastMovedAtMs: undefined };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #makeParts(): Promise<TeammateParts> {
    const {
      port,
      keys,
      agents,
      baseFolder,
      settings,
      log,
      clock = systemClock,
      checkpoint = () => undefined,
    } = this.#options;
    await mkdir(this.#options.dataDir, { recursive: true, mode: 0o700 });
    const dataDir = await realpath(this.#options.dataDir);
    const roots = await realRoots(this.#options.roots);
    if (roots.length === 0)
      throw new PlacetError('config_invalid', 'none of the roots exists: tasks would have nowhere to work');
    const environment = minimalEnvironment(this.#options.environment);
    const journal = new Journal(join(dataDir, 'journal.ndjson'));
    await journal.open();
    this.#journal = journal;
    const profiles = new Profiles(agents, baseFolder);
    const runtime =
      this.#options.runtime ??
      new CommandRuntime({
        profiles,
        environment,
        confinements: await detectConfinements({ folder: dataDir, environment, log }),
      });
    return {
      port,
      journal,
      verifier: new DecisionVerifier({ keys, journal }),
      profiles,
      runtime,
      worktrees: new Worktrees({ environment, dataDir }),
      settings,
      dataDir,
      roots,
      held: new Map(),
      sources: new Map(),
      environment,
      clock,
      log,
      checkpoint,
      doubted: new Set(),
      stopping: { planning: this.#planningStops.signal, implementing: this.#implementingStops.signal },
    };
  }

  async #close(): Promise<void> {
    const { shutdownGraceMs, log } = this.#options;
    this.#planningStops.abort();
    const grace = setTimeout(() => this.#implementingStops.abort(), shutdownGraceMs);
    const deadline = AbortSignal.timeout(shutdownGraceMs + closeWithinMs);
    try {
      await Promise.race([this.#worker?.close(false), aborted(deadline)]);
      if (deadline.aborted) {
        log.warn({}, 'the queue does not take back what this process had; it will be found abandoned');
        await this.#worker?.close(true);
      }
    } finally {
      clearTimeout(grace);
      this.#implementingStops.abort();
      this.#presenceStops.abort();
      await this.#presence;
      await this.#journal?.close();
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
