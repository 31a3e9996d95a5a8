/** Medians of pairs: both sides of a pair are measured next to each other, so what else the machine does hits both. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((first, second) => first - second);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export type Measurement = () => number | Promise<number>;

/**
 * Runs every measurement once per round, in turn forwards and backwards, after one round that does not count. Gives the
 * values of each, in the order of the measurements.
 */
export async function interleave(rounds: number, measurements: readonly Measurement[]): Promise<number[][]> {
  const entries = measurements.map((measure) => ({ measure, values: new Array<number>() }));
  for (let round = -1; round < rounds; round++) {
    for (const { measure, values } of round % 2 === 0 ? entries : entries.toReversed()) {
      const value = await measure();
      if (round >= 0) values.push(value);
    }
  }
  return entries.map(({ values }) => values);
}

/** The median of `values[i] / peers[i]`. */
export function medianRatio(values: readonly number[], peers: readonly number[]): number {
  return median(values.map((value, index) => value / (peers[index] ?? Number.NaN)));
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** To three digits, for people. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
