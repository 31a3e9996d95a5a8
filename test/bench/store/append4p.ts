/** Durable appends from four processes at once. */
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { Child } from '../child.ts';
import { interleave, median, medianRatio, short, timed } from '../statistics.ts';

const processes = 4;
const rounds = 9;
/** Messages per process and round; processes/appending.ts adds them. */
const perRound = 100;

const answerSchema = v.object({
  /** Writes that were refused because another process held a lock. */
  locked: v.number(),
});

export const append4p: Benchmark = single(
  {
    name: 'append-4p',
    group: 'store',
    what: 'durable append of 1 kB by 4 processes at once, total throughput, ours ÷ native',
    unit: 'ratio',
    bar: 1,
    direction: 'atLeast',
    needsSqlite: true,
  },
  async ({ makeFolder, checkpointWorkerFile }) => {
    const folders = [makeFolder(), makeFolder()];
    const children = Array.from(
      { length: processes },
      () => new Child('appending', [...folders, checkpointWorkerFile, String(perRound)]),
    );
    const locked = { ours: 0, native: 0 };
    const askAll = async (question: keyof typeof locked): Promise<void> => {
      const answers = await Promise.all(children.map((child) => child.ask(answerSchema, question)));
      locked[question] += answers.reduce((sum, answer) => sum + answer.locked, 0);
    };
    try {
      // One after the other: each brings the schema up to date.
      for (const child of children) await child.ask(v.unknown(), 'open');
      const [ours = [], native = []] = await interleave(rounds, [
        () => timed(() => askAll('ours')),
        () => timed(() => askAll('native')),
      ]);
      const rate = (values: readonly number[]): string =>
        `${short((1000 * processes * perRound) / median(values))}/s`;
      // Throughput is the inverse of time.
      const ratio = medianRatio(native, ours);
      return {
        value: locked.ours === 0 ? ratio : null,
        note: `ours ${rate(ours)} (${locked.ours} "locked" errors), native ${rate(native)} (${locked.native})`,
      };
    } finally {
      for (const child of children) await child.end();
    }
  },
);
