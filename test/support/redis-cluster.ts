import { queuePrefix } from '@placet/mailbox';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { type OwnRedis, startOwnRedis, uniqueTeam } from './redis-server.ts';

/** A Redis Cluster of real processes on loopback, for one test file. */
export interface TestCluster {
  /** Names two of the masters; the third is found. */
  readonly url: string;
  /** Three, each with a third of the slots. */
  readonly masters: readonly OwnRedis[];
  /** The master at a place from 0 to 2. */
  master(place: number): OwnRedis;
  /** Follows the first master; absent unless asked for. */
  readonly replica: OwnRedis | undefined;
  /** A connection to one of its nodes, closed with the Cluster. */
  admin(node: OwnRedis): Redis;
  /** A team name that no other test uses, whose keys lie on this master; of the teammate, if one is named, the queue too. */
  teamOn(master: OwnRedis, teammate?: string): Promise<string>;
  /** Moves a team's slot as operators do, while it is in use: `onBatch` runs after each ten keys that have moved. */
  moveTeam(team: string, from: OwnRedis, to: OwnRedis, onBatch: () => Promise<unknown>): Promise<void>;
  /** Runs a command on every node. */
  everywhere(...command: [string, ...string[]]): Promise<void>;
  /** Waits until every node that runs says that the Cluster works, and knows the same masters. */
  works(): Promise<void>;
  stop(): Promise<void>;
}

/** How soon nodes give each other up, in milliseconds: short, so that a failover takes little of a test's time. */
const nodeTimeoutMs = 1000;
const slotCount = 16_384;
const settings = Object.entries({
  'cluster-enabled': 'yes',
  'cluster-announce-ip': '127.0.0.1',
  'cluster-node-timeout': nodeTimeoutMs,
  'cluster-replica-validity-factor': 0,
  'repl-diskless-sync-delay': 0,
  'repl-ping-replica-period': 1,
}).flatMap(([name, value]) => [`--${name}`, String(value)]);

/** Starts three masters and, with `replica`, one more that follows the first. */
export async function startCluster({ replica = false, extra = [] as string[] } = {}): Promise<TestCluster> {
  const nodes = await Promise.all(
    Array.from({ length: replica ? 4 : 3 }, () => startOwnRedis([...settings, ...extra])),
  );
  const cluster = new ProcessCluster(nodes.slice(0, 3), nodes[3]);
  try {
    await cluster.form();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

class ProcessCluster implements TestCluster {
  readonly masters: readonly OwnRedis[];
  readonly replica: OwnRedis | undefined;
  readonly #admins = new Map<OwnRedis, Redis>();

  constructor(masters: readonly OwnRedis[], replica: OwnRedis | undefined) {
    this.masters = masters;
    this.replica = replica;
  }

  get url(): string {
    return `redis+cluster://${this.masters
      .slice(0, 2)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',')}`;
  }

  master(place: number): OwnRedis {
    const found = this.masters[place];
    if (!found) throw new Error('a Cluster has three masters');
    return found;
  }

  admin(node: OwnRedis): Redis {
    const known = this.#admins.get(node);
    if (known) return known;
    const admin = new Redis(node.port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: 0 });
    admin.on('error', () => undefined); // a node that a test has ended
    this.#admins.set(node, admin);
    return admin;
  }

  async teamOn(master: OwnRedis, teammate?: string): Promise<string> {
    const [first, last] = this.#rangeOf(this.masters.indexOf(master));
    for (;;) {
      const team = uniqueTeam();
      const keys = [`{${team}}`, teammate === undefined ? `{${team}}` : queuePrefix(team, teammate)];
      const slots = await Promise.all(keys.map((key) => this.admin(master).cluster('KEYSLOT', key)));
      if (slots.every((slot) => Number(slot) >= first && Number(slot) <= last)) return team;
    }
  }

  async moveTeam(team: string, from: OwnRedis, to: OwnRedis, onBatch: () => Promise<unknown>): Promise<void> {
    const [source, target] = [this.admin(from), this.admin(to)];
    const slot = Number(await source.cluster('KEYSLOT', `{${team}}`));
    const [sourceId, targetId] = [String(await source.cluster('MYID')), String(await target.cluster('MYID'))];
    await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId);
    await source.cluster('SETSLOT', slot, 'MIGRATING', targetId);
    for (;;) {
      const keys = await source.cluster('GETKEYSINSLOT', slot, 10);
      if (keys.length === 0) break;
      await source.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys.map(String));
      await onBatch();
    }
    for (const node of [to, from, ...this.#nodes])
      if (node !== this.replica) await this.admin(node).cluster('SETSLOT', slot, 'NODE', targetId);
  }

  async everywhere(...[name, ...rest]: [string, ...string[]]): Promise<void> {
    await Promise.all(this.#nodes.map((node) => this.admin(node).call(name, ...rest)));
  }

  async form(): Promise<void> {
    const [first] = this.masters;
    if (!first) throw new Error('a Cluster needs masters');
    for (const [place, master] of this.masters.entries()) {
      await this.admin(master).cluster('ADDSLOTSRANGE', ...this.#rangeOf(place));
      await this.admin(master).call('CLUSTER', 'SET-CONFIG-EPOCH', String(place + 1));
    }
    for (const node of this.#nodes.slice(1)) await this.admin(first).cluster('MEET', '127.0.0.1', node.port);
    if (this.replica) await this.#follow(this.replica, first);
    await this.works();
  }

  async works(): Promise<void> {
    const look = async () => {
      const running = this.#nodes.filter((node) => isRunning(node));
      const views = await Promise.all(running.map((node) => this.#viewOf(node)));
      return views.every((view) => view !== undefined && view === views[0]);
    };
    await eventually(look, { what: 'a Cluster that works', withinMs: 20_000, everyMs: 50 });
  }

  async stop(): Promise<void> {
    for (const admin of this.#admins.values()) admin.disconnect();
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  get #nodes(): OwnRedis[] {
    return this.replica ? [...this.masters, this.replica] : [...this.masters];
  }

  #rangeOf(place: number): [first: number, last: number] {
    const size = Math.ceil(slotCount / this.masters.length);
    return [place * size, Math.min((place + 1) * size, slotCount) - 1];
  }

  /** Which port has which slots, as a node sees it; undefined while it does not work. */
  async #viewOf(node: OwnRedis): Promise<string | undefined> {
    const admin = this.admin(node);
    const info = String(await admin.cluster('INFO'));
    if (!info.includes('cluster_state:ok')) return undefined;
    if (!info.includes(`cluster_known_nodes:${this.#nodes.length}`)) return undefined;
    const slots: unknown = await admin.cluster('SLOTS');
    return JSON.stringify(Array.isArray(slots) ? slots.map(ownerOfRange).sort() : slots);
  }

  async #follow(replica: OwnRedis, master: OwnRedis): Promise<void> {
    const id = String(await this.admin(master).cluster('MYID'));
    await eventually(async () => String(await this.admin(replica).cluster('NODES')).includes(id));
    await eventually(async () => (await this.admin(replica).cluster('REPLICATE', id)) === 'OK');
    await eventually(async () =>
      (await this.admin(replica).info('replication')).includes('master_link_status:up'),
    );
  }
}

function ownerOfRange(range: unknown): string {
  const [first, last, owner]: unknown[] = Array.isArray(range) ? range : [];
  const port: unknown = Array.isArray(owner) ? owner[1] : undefined;
  return [first, last, port].map(String).join(' ');
}

function isRunning(node: OwnRedis): boolean {
  try {
    return node.pid > 0;
  } catch {
    return false; // it was ended
  }
}
