import type { FaultProcess } from './fault-process.ts';

/** How one member of a cast is started; answers when it works. */
export type Casting<Actor> = () => Promise<{ process: FaultProcess; actor: Actor }>;

interface Part<Actor> {
  start: Casting<Actor>;
  playing: Promise<{ process: FaultProcess; actor: Actor } | undefined>;
  kills: number;
}

/** Processes that are killed again and again, each replaced at once by another of its kind. */
export class KillableCast<Actor> {
  readonly #parts = new Map<string, Part<Actor>>();
  #isOver = false;

  /** Adds a member and waits until it works. */
  async add(name: string, start: Casting<Actor>): Promise<void> {
    const part: Part<Actor> = { start, playing: start(), kills: 0 };
    this.#parts.set(name, part);
    await part.playing;
  }

  names(): string[] {
    return [...this.#parts.keys()];
  }

  /** How often each was killed. */
  kills(): Record<string, number> {
    return Object.fromEntries([...this.#parts].map(([name, { kills }]) => [name, kills]));
  }

  /** kill -9, and another takes the place; waits until a former replacement works, and for the kill. */
  async kill(name: string): Promise<void> {
    const part = this.#parts.get(name);
    const playing = await part?.playing;
    if (!part || !playing || this.#isOver) return;
    await playing.process.kill9();
    part.kills += 1;
    part.playing = this.#isOver ? Promise.resolve(undefined) : part.start();
    part.playing.catch(() => undefined); // whoever waits for it hears of it
  }

  /** The member of a name, once it works. */
  async actor(name: string): Promise<Actor> {
    const playing = await this.#parts.get(name)?.playing;
    if (!playing) throw new Error(`there is no ${name}`);
    return playing.actor;
  }

  /** No more kills; every member is stopped in order. */
  async end(): Promise<void> {
    this.#isOver = true;
    const playing = await Promise.all([...this.#parts.values()].map((part) => part.playing));
    await Promise.all(playing.flatMap((one) => (one ? [one.process.stop()] : [])));
  }
}
