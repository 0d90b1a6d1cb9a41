import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectRedis,
  createMailbox,
  createOwnerProof,
  createToken,
  KeyRing,
  type Mailbox,
  type RedisHandle,
  type TokenSpec,
} from '@placet/mailbox';
import { digestOfText, newRequestId, newSessionId, Submission } from '@placet/protocol';
import { type FaultProcess, startFaultProcess } from './fault-process.ts';
import type { FaultTeammateSettings } from './fault-teammate.ts';
import { type OwnRedis, startOwnRedis, uniqueTeam } from './redis-server.ts';

/** The lead service as a process of its own. */
export interface FaultLead {
  readonly url: string;
  readonly process: FaultProcess;
}

/** A Redis, a data folder with the lead's keys, and everything that a test needs to look into them. */
export class FaultWorld {
  readonly team = uniqueTeam();
  readonly redis: OwnRedis;
  readonly dataDir: string;
  readonly keyRing: KeyRing;
  readonly handle: RedisHandle;
  readonly mailbox: Mailbox;
  readonly #processes = new Set<FaultProcess>();

  private constructor(redis: OwnRedis, dataDir: string, keyRing: KeyRing) {
    this.redis = redis;
    this.dataDir = dataDir;
    this.keyRing = keyRing;
    this.handle = connectRedis({ url: redis.url, name: 'fault-test', timeoutMs: 10_000 });
    this.mailbox = createMailbox(this.handle);
  }

  static async open(redisArguments: readonly string[] = []): Promise<FaultWorld> {
    const dataDir = await mkdtemp(join(tmpdir(), 'placet-fault-'));
    const keyRing = await KeyRing.open(join(dataDir, 'keys'), { publishTo: join(dataDir, 'jwks.json') });
    const world = new FaultWorld(await startOwnRedis(redisArguments), dataDir, keyRing);
    await world.handle.ready();
    return world;
  }

  /** A token; of a lead of the world's team unless the spec says otherwise. */
  async token(spec: Partial<TokenSpec> = {}): Promise<string> {
    const { token } = await createToken(await this.keyRing.activeSigner(), {
      principal: 'local:lead',
      role: 'lead',
      teams: [this.team],
      nowMs: Date.now(),
      ...spec,
    });
    return token;
  }

  /** A token of a teammate of the world's team. */
  teammateToken(teammate: string, owner = `local:owner-of-${teammate}`): Promise<string> {
    return this.token({
      principal: `teammate:${teammate}`,
      role: 'teammate',
      kind: 'agent',
      teammate,
      owner,
    });
  }

  /** Starts a lead service on the world's Redis, or another way to it, and answers when it listens. */
  async startLead(env: Readonly<Record<string, string>> = {}): Promise<FaultLead> {
    const process = this.start('packages/lead/src/main.ts', {
      PLACET_REDIS_URL: this.redis.url,
      PLACET_DATA: this.dataDir,
      PLACET_PORT: '0',
      PLACET_LOG_LEVEL: 'info',
      PLACET_RATE_LIMIT_PER_MINUTE: '0',
      ...env,
    });
    const url = await process.untilSaid((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
    return { url, process };
  }

  /** What a teammate's process of the world is told; `changes` win. */
  async teammateSettings(
    teammate: string,
    changes: Partial<FaultTeammateSettings> = {},
  ): Promise<Partial<FaultTeammateSettings>> {
    const { team, redis, dataDir } = this;
    const owner = `local:owner-of-${teammate}`;
    const signer = await this.keyRing.activeSigner();
    return {
      team,
      teammate,
      owner,
      ownerProof: await createOwnerProof(signer, { team, teammate, owner }, Date.now()),
      redisUrl: redis.url,
      dataDir: join(dataDir, 'teammates', teammate),
      jwksFile: join(dataDir, 'jwks.json'),
      roots: [dataDir],
      workLog: join(dataDir, `work-of-${teammate}.log`),
      ...changes,
    };
  }

  /** Starts a process of a teammate and answers when it takes tasks. */
  async startTeammate(settings: Partial<FaultTeammateSettings>): Promise<FaultProcess> {
    const process = this.start(
      'test/support/fault-teammate.ts',
      { FAULT_TEAMMATE: JSON.stringify(settings) },
      ['--expose-gc'],
    );
    await process.untilSaid((line) => line === 'started' || undefined);
    return process;
  }

  /** Starts a program of ours; whatever still runs at the end is ended by `close`. */
  start(program: string, env: Readonly<Record<string, string>>, nodeArgs: readonly string[] = []) {
    const started = startFaultProcess({ program, env, nodeArgs });
    this.#processes.add(started);
    return started;
  }

  /** The URL of the team's requests at a lead, or of one of them. */
  requestUrl(lead: FaultLead, requestId?: string, rest = ''): string {
    const requests = `${lead.url}/v1/teams/${this.team}/requests`;
    return requestId === undefined ? requests : `${requests}/${encodeURIComponent(requestId)}${rest}`;
  }

  /** A submission with a request and a session of its own. */
  submission(teammate: string, plan: string, changes: Partial<Submission> = {}): Submission {
    return Submission.parse({
      requestId: newRequestId(teammate, this.team),
      planFilePath: 'plans/calm-red-fox.md',
      planContent: plan,
      planDigest: digestOfText(plan),
      sessionId: newSessionId(),
      ...changes,
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.stop(5000)));
    await this.mailbox.close();
    await this.handle.close();
    await this.redis.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
