import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { type OwnRedis, startOwnRedis, startOwnServer } from './redis-server.ts';

/** A Redis with a replica, watched by three Sentinels: real processes on loopback, for one test file. */
export interface TestSentinel {
  readonly url: string;
  /** Both servers; the first begins as the master. */
  readonly servers: readonly [OwnRedis, OwnRedis];
  /** The one that the Sentinels call master now, and the other. */
  roles(): Promise<{ master: OwnRedis; other: OwnRedis }>;
  /** A connection to a server, closed with the rest. */
  admin(server: OwnRedis): Redis;
  /** Waits until a server follows the other one and has what that has; tells it to, where it was ended before. */
  follows(server: OwnRedis): Promise<void>;
  /** Starts one more Sentinel, which takes no part in failovers; answers the URL that names it alone, without its password. */
  lockedSentinel(password: string): Promise<string>;
  stop(): Promise<void>;
}

const masterName = 'main';
/** How soon Sentinels give a server up, in milliseconds: short, so that a failover takes little of a test's time. */
const downAfterMs = 1000;
const host = '127.0.0.1';

/** Starts all of it; `extra` are arguments for both servers. */
export async function startSentinel(extra: readonly string[] = []): Promise<TestSentinel> {
  const settings = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1', ...extra];
  const master = await startOwnRedis(settings);
  const replica = await startOwnRedis([...settings, '--replicaof', host, String(master.port)]);
  const sentinels = await Promise.all(
    [1, 2, 3].map(() => startSentinelProcess({ port: master.port, quorum: 2, downAfterMs })),
  );
  const world = new SentinelProcesses([master, replica], sentinels);
  try {
    await world.follows(replica);
    await world.agree();
  } catch (error) {
    await world.stop();
    throw error;
  }
  return world;
}

class SentinelProcesses implements TestSentinel {
  readonly servers: readonly [OwnRedis, OwnRedis];
  readonly #sentinels: OwnRedis[];
  readonly #admins = new Map<OwnRedis, Redis>();

  constructor(servers: readonly [OwnRedis, OwnRedis], sentinels: OwnRedis[]) {
    this.servers = servers;
    this.#sentinels = sentinels;
  }

  get url(): string {
    return urlOf(this.#sentinels.slice(0, 3));
  }

  async roles(): Promise<{ master: OwnRedis; other: OwnRedis }> {
    const [one, other] = this.servers;
    const [sentinel] = this.#sentinels;
    if (!sentinel) throw new Error('there are three Sentinels');
    const address: unknown = await this.admin(sentinel).call(
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      masterName,
    );
    const port = Array.isArray(address) ? Number(address[1]) : 0;
    return port === one.port ? { master: one, other } : { master: other, other: one };
  }

  admin(server: OwnRedis): Redis {
    const known = this.#admins.get(server);
    if (known) return known;
    const admin = new Redis(server.port, host, { retryStrategy: () => 50, maxRetriesPerRequest: 0 });
    admin.on('error', () => undefined); // a server that a test has ended
    this.#admins.set(server, admin);
    return admin;
  }

  async follows(server: OwnRedis): Promise<void> {
    const look = async () => {
      const { master, other } = await this.roles();
      if (other !== server) return false;
      await this.admin(server).replicaof(host, master.port);
      const info = await this.admin(server).info('replication');
      return info.includes('master_link_status:up') && Number(await this.admin(master).wait(1, 100)) === 1;
    };
    await eventually(look, { what: 'a replica', withinMs: 20_000, everyMs: 50 });
  }

  async lockedSentinel(password: string): Promise<string> {
    const { master } = await this.roles();
    const sentinel = await startSentinelProcess({
      port: master.port,
      quorum: 9,
      downAfterMs: 600_000,
      more: [`requirepass ${password}`],
    });
    this.#sentinels.push(sentinel);
    return urlOf([sentinel]);
  }

  /** Waits until every Sentinel knows the replica and the other Sentinels. */
  async agree(): Promise<void> {
    await eventually(
      async () => {
        const views = await Promise.all(this.#sentinels.map((one) => this.admin(one).info('sentinel')));
        return views.every((view) => view.includes('status=ok') && view.includes('slaves=1,sentinels=3'));
      },
      { what: 'three Sentinels that know each other', withinMs: 20_000, everyMs: 50 },
    );
  }

  async stop(): Promise<void> {
    for (const admin of this.#admins.values()) admin.disconnect();
    await Promise.all([...this.#sentinels, ...this.servers].map((one) => one.stop()));
  }
}

function urlOf(sentinels: readonly OwnRedis[]): string {
  return `redis+sentinel://${sentinels.map(({ port }) => `${host}:${port}`).join(',')}/${masterName}`;
}

interface Watching {
  port: number;
  quorum: number;
  downAfterMs: number;
  more?: string[];
}

/** A Sentinel keeps what it knows in its configuration file. */
function startSentinelProcess({ port: masterPort, quorum, downAfterMs: ms, more = [] }: Watching) {
  return startOwnServer((port, dir) => {
    const file = join(dir, `sentinel-${port}.conf`);
    const lines = [
      `port ${port}`,
      `bind ${host}`,
      `dir ${dir}`,
      `sentinel monitor ${masterName} ${host} ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${masterName} ${ms}`,
      `sentinel failover-timeout ${masterName} 2000`,
      ...more,
    ];
    if (!existsSync(file)) writeFileSync(file, `${lines.join('\n')}\n`);
    return [file, '--sentinel'];
  });
}
