/** The worst that a single commit costs the host thread. */
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, short } from '../statistics.ts';
import { cloneW2, w2Store } from '../w2Store.ts';

const runs = 5;

const commitsSchema = v.object({
  worst: v.number(),
  median: v.number(),
  count: v.number(),
  /** Longest time for which the same loop without a store was interrupted. */
  control: v.number(),
});

export const worstInsertW2: Benchmark = single(
  {
    name: 'worst-insert-w2',
    group: 'store',
    what: 'worst single commit of 1 kB after open, without fdatasync',
    unit: 'ms',
    bar: 5,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const source = await w2Store(context);
    const results: v.InferOutput<typeof commitsSchema>[] = [];
    for (let run = 0; run < runs; run++) {
      const folder = context.makeFolder();
      cloneW2(source, folder);
      results.push(await withChild('inserting', [folder], (child) => child.ask(commitsSchema, 'insert')));
    }
    const worst = results.map((result) => result.worst);
    return {
      value: median(worst),
      note: `the worst of ${results[0]?.count ?? 0} commits in ${runs} runs: ${worst.map(short).join(', ')} ms; the median one ${short(median(results.map((result) => result.median)))} ms; the same loop without a store was interrupted for up to ${short(median(results.map((result) => result.control)))} ms`,
    };
  },
);
