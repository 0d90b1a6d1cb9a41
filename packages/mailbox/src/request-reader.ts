import {
  type Digest,
  parseNativeRequestId,
  type RequestRecord,
  type RequestWithPlan,
} from '@placet/protocol';
import { keyOf } from './keys.ts';
import { packDigest } from './packed-names.ts';
import { parseDecision, parseFields, parseRequest, type StoredParts, toRecord } from './request-codec.ts';
import { expireRequest, lapseApproval } from './request-ending.ts';
import { execAll, storeCall } from './scripts.ts';
import type { StoreContext } from './store-context.ts';
import { storeTimeMs } from './store-time.ts';

/** What stands in `log:rid:<id>` once the request of a foreign ID was purged (ST-9). */
const tombstone = '!';

/** Names a request of a teammate. */
export interface RequestName {
  team: string;
  teammate: string;
  requestId: string;
}

/** Requests as one moment in Redis shows them. */
export interface Snapshot {
  /** The store's time. */
  nowMs: number;
  /** In the order of what was asked for; undefined where there is none. */
  found: (StoredParts | undefined)[];
}

/** Reads requests. What is past its time is ended first (WR-24, WR-28). */
export class RequestReader {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async get(team: string, requestId: string): Promise<RequestRecord | undefined> {
    const parts = await this.parts(team, requestId);
    return parts && toRecord(parts);
  }

  async getWithPlan(team: string, requestId: string): Promise<RequestWithPlan | undefined> {
    const record = await this.get(team, requestId);
    if (!record) return undefined;
    const plan = await this.planBytes(team, record.plan.digest);
    // A plan goes only together with its last request, so this one was purged in between.
    return plan && { ...record, planContent: plan.toString('utf8') };
  }

  async planBytes(team: string, digest: Digest): Promise<Buffer | undefined> {
    const key = keyOf(team, 'plan', packDigest(digest));
    const bytes = await storeCall('reading a plan', () => this.#context.redis.getBuffer(key));
    return bytes ?? undefined;
  }

  async ownerProof(team: string, teammate: string): Promise<string | undefined> {
    const key = keyOf(team, 'owner', teammate);
    return (await storeCall('reading an owner', () => this.#context.redis.get(key))) ?? undefined;
  }

  /** Everything stored of a request, after what is past its time was ended. */
  async parts(team: string, requestId: string): Promise<StoredParts | undefined> {
    const [teammate] = await this.teammatesOf(team, [requestId]);
    if (teammate === undefined) return undefined;
    const [parts] = await this.fresh(team, [{ teammate, requestId }]);
    return parts;
  }

  /** Everything stored of a request, as it is. */
  async stored(name: RequestName): Promise<StoredParts | undefined> {
    return (await this.snapshot(name.team, [name])).found[0];
  }

  /** As {@link parts}, for several. */
  async fresh(team: string, names: Omit<RequestName, 'team'>[]): Promise<(StoredParts | undefined)[]> {
    const { nowMs, found } = await this.snapshot(team, names);
    return Promise.all(found.map(async (parts) => parts && (await this.#settled(parts, nowMs))));
  }

  /** What is stored of requests, all read in one step, as it is. */
  async snapshot(team: string, names: Omit<RequestName, 'team'>[]): Promise<Snapshot> {
    const transaction = this.#context.redis.multi().time();
    for (const { teammate, requestId } of names) {
      transaction
        .get(keyOf(team, 'request', teammate, requestId))
        .hgetall(keyOf(team, 'requestState', teammate, requestId))
        .get(keyOf(team, 'decision', requestId));
    }
    const [time, ...values] = await execAll('reading requests', transaction);
    const found = names.map(({ teammate, requestId }, place): StoredParts | undefined => {
      const [request, fields, decision] = values.slice(3 * place, 3 * place + 3);
      if (typeof request !== 'string') return undefined;
      return {
        team,
        teammate,
        requestId,
        request: parseRequest(requestId, request),
        fields: parseFields(requestId, fields),
        decision: typeof decision === 'string' ? parseDecision(requestId, decision) : undefined,
      };
    });
    return { nowMs: storeTimeMs(time), found };
  }

  /** Whose requests these are: a native ID says it, of foreign ones the store knows; undefined for what is none. */
  async teammatesOf(team: string, requestIds: readonly string[]): Promise<(string | undefined)[]> {
    const foreign = requestIds.filter((id) => !parseNativeRequestId(id));
    const known = new Map<string, string>();
    if (foreign.length > 0) {
      const keys = foreign.map((id) => keyOf(team, 'foreignRequest', id));
      const teammates = await storeCall('reading foreign requests', () => this.#context.redis.mget(keys));
      for (const [place, id] of foreign.entries()) {
        const teammate = teammates[place];
        if (teammate && teammate !== tombstone) known.set(id, teammate);
      }
    }
    return requestIds.map((id) => {
      const native = parseNativeRequestId(id);
      if (!native) return known.get(id);
      return native.team === team ? native.teammate : undefined;
    });
  }

  /** The same request, after ending it or its approval where the time for that has passed. */
  async #settled(parts: StoredParts, nowMs: number): Promise<StoredParts | undefined> {
    const { team, teammate, requestId, request, fields } = parts;
    const name = { team, teammate, requestId, sessionId: request.s };
    if (fields.st === 'pending' && request.dl <= nowMs) await expireRequest(this.#context, name);
    else if (fields.st === 'approved' && fields.ws === 'none' && nowMs > (fields.na ?? 0)) {
      await lapseApproval(this.#context, name);
    } else return parts;
    return this.stored(parts);
  }
}
