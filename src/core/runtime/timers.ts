/** Time for the lifecycle, as an argument, so that tests can make an hour pass at once. */

export interface Timers {
  /** Monotonic milliseconds: never goes back, whatever happens to the clock. */
  now(): number;
  /** Runs once after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Waits for the promise, but no longer than that many milliseconds. Rejects if it rejects meanwhile. */
export async function waitAtMost(
  timers: Timers,
  milliseconds: number,
  promise: Promise<unknown>,
): Promise<void> {
  let cancel: () => void = () => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = timers.after(milliseconds, resolve);
  });
  await Promise.race([promise, patience]);
  cancel();
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref(); // housekeeping must not keep a process alive
    return () => clearTimeout(timer);
  },
};
