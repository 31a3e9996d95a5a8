/** What a benchmark is, and what it gives. */

export interface Outcome {
  /** Null: it could not be run here. */
  readonly value: number | null;
  /** What else was measured, in words for the table. */
  readonly note: string;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly bar: number;
  /** On which side of the bar the value must be. */
  readonly direction: 'atMost' | 'atLeast';
}

export interface Benchmark {
  /** The name it is asked for by. */
  readonly name: string;
  readonly group: string;
  /** What is measured. */
  readonly what: string;
  /** What it gives; nearly always one figure, of its own name. */
  readonly figures: readonly Figure[];
  /** It is measured against Node's SQLite. */
  readonly needsSqlite: boolean;
  /** One outcome for each figure. */
  readonly run: (context: BenchContext) => Promise<readonly Outcome[]>;
}

export interface BenchContext {
  /** A new folder on disk, removed at the end. */
  readonly makeFolder: () => string;
  /** Part of the full size that the large workloads have, from 0 to 1. */
  readonly scale: number;
  /** The built checkpoint worker. */
  readonly checkpointWorkerFile: string;
  /** What is being done, for whoever waits. */
  readonly say: (sentence: string) => void;
}

export function holds({ bar, direction }: Figure, { value }: Outcome): boolean {
  if (value === null) return false;
  return direction === 'atMost' ? value <= bar : value >= bar;
}

/** A benchmark with one figure. */
export function single(
  facts: Omit<Benchmark, 'figures' | 'run'> & Omit<Figure, 'name'>,
  run: (context: BenchContext) => Promise<Outcome>,
): Benchmark {
  const { name, group, what, needsSqlite, unit, bar, direction } = facts;
  const figures = [{ name, unit, bar, direction }];
  return { name, group, what, needsSqlite, figures, run: async (context) => [await run(context)] };
}
