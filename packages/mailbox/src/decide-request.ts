import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { currentOf, isPlacetError, isTerminal, PlacetError, type RequestRecord } from '@placet/protocol';
import type { DecideInput } from './decide-input.ts';
import type { DecisionStore } from './decision-store.ts';
import { draftDecision, findContradiction, isSameDecision } from './draft-decision.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { voteOf } from './request-codec.ts';
import type { Signer } from './signing/signer.ts';

/** What {@link decideRequest} works with. All but the first two is for tests. */
export interface DecideDeps {
  requests: DecisionStore;
  signer: Signer;
  /** Milliseconds of a clock that is never set. */
  monotonicMs?: () => number;
  /** Waits between two looks at a rival's reservation. */
  pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Who decides one after the other; all of this process, unless given. */
  mutex?: KeyedMutex;
}

/** A decision that stands: made now, or earlier by the same lead in the same words (WR-21). */
export interface DecideResult {
  kind: 'decided' | 'replayed';
  record: RequestRecord;
}

/** A commit is sent within this time of the reservation's sending or not at all; the store holds it for 5 s (WR-20). */
const sendWithinMs = 2000;
/** How long a call waits for rivals, its own lapsed reservations included. */
const waitAtMostMs = 10_000;

const inThisProcess = new KeyedMutex();

/**
 * Decides a request: reserve, sign in this process, commit (WR-20). Waits for rivals, in this process and in others.
 * @throws PlacetError `validation_failed` when the input contradicts itself; `not_found`; `already_decided`, `superseded` or `stale_plan` with what stands as `current`;
 * `store_unavailable` when a rival or the store takes too long, `not_durable` when replicas do: what was sent may have
 * happened, and the same call again tells (WR-21).
 */
export async function decideRequest(deps: DecideDeps, input: DecideInput): Promise<DecideResult> {
  const { monotonicMs = () => performance.now(), mutex = inThisProcess } = deps;
  const attempt = new DecisionAttempt({ ...deps, monotonicMs }, input);
  const key = `${input.team}\n${input.record.requestId}`;
  const isRivalry = mutex.isHeld(key);
  const waitSignal = () => {
    const timeout = AbortSignal.timeout(waitAtMostMs);
    return input.signal ? AbortSignal.any([input.signal, timeout]) : timeout;
  };
  try {
    return await mutex.run(key, waitSignal, () => attempt.run(isRivalry));
  } catch (error) {
    // The timeout above is the only one whose error can come out here.
    if (error instanceof DOMException && error.name === 'TimeoutError') throw tooLong(input);
    throw error;
  }
}

class DecisionAttempt {
  readonly #deps: DecideDeps & { monotonicMs: () => number };
  readonly #input: DecideInput;
  readonly #startedAtMs: number;
  /** What this call signed and may have committed. */
  readonly #sent = new Set<string>();

  constructor(deps: DecideDeps & { monotonicMs: () => number }, input: DecideInput) {
    this.#deps = deps;
    this.#input = input;
    this.#startedAtMs = deps.monotonicMs();
  }

  /** @param isOutdated whether the record may have changed since it was read, because a rival was before us. */
  async run(isOutdated: boolean): Promise<DecideResult> {
    const contradiction = findContradiction(this.#input);
    // Of a request that has ended it is said how, whatever was asked.
    const mustRead = isOutdated || contradiction !== undefined;
    for (let record = mustRead ? await this.#reread() : this.#input.record; ; ) {
      if (isTerminal(record.state)) return await this.#concludeWith(record);
      if (contradiction) throw new PlacetError('validation_failed', contradiction);
      this.#input.signal?.throwIfAborted();
      const decided = await this.#tryOnce();
      if (decided) return { kind: 'decided', record: decided };
      if (this.#deps.monotonicMs() - this.#startedAtMs > waitAtMostMs) throw tooLong(this.#input);
      record = await this.#reread();
    }
  }

  /** One round of reserve, sign, commit; undefined where the record must be read to know how it stands. */
  async #tryOnce(): Promise<RequestRecord | undefined> {
    const { requests, monotonicMs } = this.#deps;
    const { team, record, planDigest } = this.#input;
    const { teammate, requestId } = record;
    const token = randomUUID();
    const sentAtMs = monotonicMs();
    const reserved = await requests.reserve({ team, teammate, requestId, planDigest, token });
    switch (reserved.kind) {
      case 'absent':
        throw notFound(this.#input);
      case 'stale':
        throw stalePlan(await this.#reread());
      case 'busy':
        await this.#waitFor(reserved.freeInMs);
        return undefined;
      case 'gone':
        return undefined;
      case 'reserved':
        return this.#signAndCommit({ token, sentAtMs, storeNowMs: reserved.nowMs });
    }
  }

  async #signAndCommit(reservation: { token: string; sentAtMs: number; storeNowMs: number }) {
    const { requests, signer, monotonicMs } = this.#deps;
    const { team, record } = this.#input;
    const draft = await draftDecision(signer, this.#input, reservation.storeNowMs);
    // Counted from before the reservation was sent: its answer may have been long on its way.
    if (monotonicMs() - reservation.sentAtMs > sendWithinMs) return undefined;
    this.#sent.add(draft.decision.signature);
    const { teammate, sessionId, requestId } = record;
    const { token } = reservation;
    try {
      const result = await requests.commit({ team, teammate, sessionId, requestId, token, ...draft });
      if (result.kind === 'lapsed') return undefined;
    } catch (error) {
      // It may have happened: the record tells, and until it does the reservation keeps everyone else away.
      if (isPlacetError(error, 'store_unavailable')) return undefined;
      throw error;
    }
    const { decision } = draft;
    return { ...record, state: decision.outcome, votes: [voteOf(decision)], decision };
  }

  async #concludeWith(record: RequestRecord): Promise<DecideResult> {
    const { decision } = record;
    const ours = decision !== undefined && this.#sent.has(decision.signature);
    if (ours || isSameDecision(this.#input, record)) {
      await this.#deps.requests.confirm(); // it was only read
      return { kind: ours ? 'decided' : 'replayed', record };
    }
    const current = currentOf(record);
    if (record.state === 'superseded')
      throw new PlacetError('superseded', `request ${record.requestId} was superseded`, { current });
    throw new PlacetError('already_decided', `request ${record.requestId} is ${record.state}`, { current });
  }

  async #reread(): Promise<RequestRecord> {
    const record = await this.#deps.requests.get(this.#input.team, this.#input.record.requestId);
    if (!record) throw notFound(this.#input);
    return record;
  }

  async #waitFor(freeInMs: number): Promise<void> {
    const { pause = (ms, signal) => delay(ms, undefined, { signal }) } = this.#deps;
    // Usually the rival is done in a few milliseconds; jitter keeps several that wait from coming at once.
    await pause(Math.min(freeInMs, 10 + Math.random() * 40), this.#input.signal);
  }
}

function notFound({ record }: DecideInput): PlacetError {
  return new PlacetError('not_found', `there is no request ${record.requestId} in this team`);
}

function stalePlan(record: RequestRecord): PlacetError {
  return new PlacetError('stale_plan', `the plan of ${record.requestId} is not the one that was read`, {
    current: currentOf(record),
  });
}

function tooLong({ record }: DecideInput): PlacetError {
  return new PlacetError(
    'store_unavailable',
    `request ${record.requestId} was being decided for too long by someone else, or the store is too slow: try again`,
  );
}
