/** Time for the lifecycle, as an argument, so that tests can make an hour pass at once. */

export interface Timers {
  /** Monotonic milliseconds: never goes back, whatever happens to the clock. */
  now(): number;
  /** Runs once after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref(); // housekeeping must not keep a process alive
    return () => clearTimeout(timer);
  },
};
