/** What calls back after a while; an argument, so that tests own the time. */
export interface Timer {
  /** Calls `run` once after about `ms` milliseconds, and gives what takes that back; taking back twice does nothing. */
  after(ms: number, run: () => void): () => void;
}

/** Node takes no longer times; who waits longer looks at the clock and waits again. */
export const maxTimerMs = 2 ** 31 - 1;

/** The timer of the machine. */
export const systemTimer: Timer = {
  after: (ms, run) => {
    const timeout = setTimeout(run, Math.min(ms, maxTimerMs));
    return () => clearTimeout(timeout);
  },
};
