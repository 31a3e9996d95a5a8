/** The worst that a single commit costs the host thread. */
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, short } from '../statistics.ts';
import { cloneW2, w2Store } from '../w2Store.ts';

const runs = 7;

/**
 * A busy machine interrupts some commit in every run, but another one each time; what the store itself does slowly (growing its
 * file, collecting garbage) comes at the same commit. So each commit counts with its median over the runs.
 */
function medianOfEach(times: readonly (readonly number[])[]): number[] {
  const [first = []] = times;
  return first.map((_, index) => median(times.map((run) => run[index] ?? Number.NaN)));
}

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
    const times: number[][] = [];
    for (let run = 0; run < runs; run++) {
      const folder = context.makeFolder();
      cloneW2(source, folder);
      times.push(await withChild('inserting', [folder], (child) => child.ask(v.array(v.number()), 'insert')));
    }
    const commits = medianOfEach(times);
    const undisturbed = times[0]?.map((_, index) => Math.min(...times.map((run) => run[index] ?? 0))) ?? [];
    const worst = Math.max(...commits);
    return {
      value: worst,
      note: `commit ${commits.indexOf(worst) + 1} of ${commits.length}, each the median of ${runs} runs; the median one ${short(median(commits))} ms; with the fastest run of each commit the worst is ${short(Math.max(...undisturbed))} ms; the slowest of each run, interruptions by the machine included, ${times.map((run) => short(Math.max(...run))).join(', ')} ms`,
    };
  },
);
