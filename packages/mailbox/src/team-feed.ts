import type { RequestId, TeamEvent } from '@placet/protocol';
import { numberOfEntry } from './stream-entries.ts';

/** How many events a process keeps of a team that is followed. */
const keptEvents = 1000;

/** A wait for the end of a request; `forget` it in any case. */
export interface Ending {
  promise: Promise<void>;
  forget(): void;
}

/** What a process has seen of one team's events lately, and who there wants to hear of more. Does no I/O. */
export class TeamFeed {
  /** How many follow or wait. */
  users = 0;
  #recent: TeamEvent[] = [];
  #last: string | undefined;
  #change: { promise: Promise<void>; resolve: () => void } | undefined;
  readonly #endings = new Map<RequestId, Set<() => void>>();

  /** The id up to which this feed has seen everything; undefined before {@link restart}. */
  get position(): string | undefined {
    return this.#last;
  }

  /** Goes on from an id, forgetting what was before, and wakes everyone: they may have missed something. */
  restart(last: string): void {
    this.#last = last;
    this.#recent = [];
    this.wakeAll();
  }

  /** Takes in events, in order. */
  push(events: readonly TeamEvent[]): void {
    for (const event of events) {
      if (this.#last !== undefined && numberOfEntry(event.id) !== numberOfEntry(this.#last) + 1)
        this.#recent = [];
      this.#last = event.id;
      this.#recent.push(event);
      if (event.type === 'plan:decided' && event.requestId !== undefined) this.#wakeEnding(event.requestId);
    }
    if (this.#recent.length > 2 * keptEvents) this.#recent = this.#recent.slice(-keptEvents);
    const change = this.#change;
    this.#change = undefined;
    change?.resolve();
  }

  /** The events after an id; undefined where this feed does not know them all. */
  since(id: string): TeamEvent[] | undefined {
    if (this.#last === undefined || !/^\d{1,15}-0$/.test(id)) return undefined;
    const [from, last] = [numberOfEntry(id), numberOfEntry(this.#last)];
    if (from > last || from < last - this.#recent.length) return undefined;
    return from === last ? [] : this.#recent.slice(from - last);
  }

  /** Resolves with the next event, or restart. */
  change(): Promise<void> {
    this.#change ??= withResolver();
    return this.#change.promise;
  }

  /** Resolves when the request may have ended: look then. */
  ending(requestId: RequestId): Ending {
    const { promise, resolve } = withResolver();
    const waiting = this.#endings.get(requestId) ?? new Set();
    this.#endings.set(requestId, waiting.add(resolve));
    return {
      promise,
      forget: () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#endings.get(requestId) === waiting) this.#endings.delete(requestId);
      },
    };
  }

  /** Has everyone look again, as after a stop. */
  wakeAll(): void {
    for (const requestId of this.#endings.keys()) this.#wakeEnding(requestId);
    this.#change?.resolve();
    this.#change = undefined;
  }

  #wakeEnding(requestId: RequestId): void {
    const waiting = this.#endings.get(requestId) ?? [];
    for (const resolve of waiting) resolve();
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
