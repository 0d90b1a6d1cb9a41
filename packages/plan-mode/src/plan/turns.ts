/** Has steps that wait run one after the other, in the order in which they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `step` when every earlier one has ended, well or not; what it throws is its caller's. */
  take<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(step);
    this.#last = turn.catch(() => undefined); // it reaches its own caller
    return turn;
  }
}
