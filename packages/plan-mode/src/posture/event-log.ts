import { type Clock, type Log, type SessionEvent, type Timestamp, toTimestamp } from '@placet/protocol';

/** So many transitions of a session are kept in memory, and beside them so many refusals, which push out none. */
export const maxKeptEvents = 500;

/** What an event is numbered and dated by. */
export interface EventStamp {
  seq: number;
  at: Timestamp;
}

/** What a client that joins late is given. */
export interface Replay {
  events: SessionEvent[];
  /** Some after the asked number are not kept any more: read them where they are durable, or draw anew. */
  missing: boolean;
}

interface EventLogOptions {
  /** The number of the last event before this log, 0 for a new session. */
  after: number;
  clock: Clock;
  log: Log;
  onEvent: ((event: SessionEvent) => void) | undefined;
}

/**
 * The events of one session (PM-78): numbered without a gap, kept in bounded memory, told in order. What a listener
 * throws is logged and stops nothing; what it causes is told after what it was told.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  #seq: number;
  #transitions: SessionEvent[] = [];
  #refusals: SessionEvent[] = [];
  /** Up to this number, some are not kept. */
  #forgottenUpTo: number;
  readonly #untold: SessionEvent[] = [];
  #telling = false;

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#seq = options.after;
    this.#forgottenUpTo = options.after;
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#seq;
  }

  /** Records what happened at once as one, and only then tells of it. */
  add(...makers: ((stamp: EventStamp) => SessionEvent)[]): void {
    const at = toTimestamp(this.#options.clock.now());
    for (const make of makers) {
      this.#seq += 1;
      const event = make({ seq: this.#seq, at });
      this.#keep(event);
      if (this.#options.onEvent) this.#untold.push(event);
    }
    this.#tell();
  }

  /** What happened after the event of this number, in order. */
  after(seq: number): Replay {
    const events = [...this.#transitions, ...this.#refusals]
      .filter((event) => event.seq > seq)
      .sort((a, b) => a.seq - b.seq);
    return { events, missing: seq < this.#forgottenUpTo };
  }

  #keep(event: SessionEvent): void {
    const kept = event.type === 'plan:blocked' ? this.#refusals : this.#transitions;
    kept.push(event);
    if (kept.length <= maxKeptEvents) return;
    const forgotten = kept.shift();
    if (forgotten) this.#forgottenUpTo = Math.max(this.#forgottenUpTo, forgotten.seq);
  }

  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    for (let event = this.#untold.shift(); event; event = this.#untold.shift())
      try {
        this.#options.onEvent?.(event);
      } catch (thrown) {
        this.#options.log.error(
          { err: thrown, seq: event.seq, type: event.type },
          'a listener of the session failed',
        );
      }
    this.#telling = false;
  }
}
