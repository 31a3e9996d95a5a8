/** Memory of a window that holds a large store. */
import * as v from 'valibot';
import type { Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median } from '../statistics.ts';
import { cloneW2, megabytes, w2Store } from '../w2Store.ts';

const runs = 3;

const memorySchema = v.object({ steady: v.number(), peak: v.number() });

export const rssW2: Benchmark = {
  name: 'rss-w2',
  group: 'store',
  what: 'memory above an empty process ÷ snapshot size: steady, and peak during a checkpoint',
  needsSqlite: false,
  figures: [
    { name: 'rss-w2', unit: 'ratio', bar: 1.5, direction: 'atMost' },
    { name: 'rss-w2-peak', unit: 'ratio', bar: 4, direction: 'atMost' },
  ],
  run: async (context) => {
    const source = await w2Store(context);
    const steady: number[] = [];
    const peak: number[] = [];
    for (let run = 0; run < runs; run++) {
      const folder = context.makeFolder();
      cloneW2(source, folder);
      const words = [folder, context.checkpointWorkerFile];
      const empty = await withChild('remembering', words, (child) => child.ask(v.number(), 'empty'));
      const held = await withChild('remembering', words, (child) => child.ask(memorySchema, 'open'));
      steady.push(held.steady - empty);
      peak.push(held.peak - empty);
    }
    const outcome = (bytes: readonly number[]) => ({
      value: median(bytes) / source.snapshotBytes,
      note: `${megabytes(median(bytes))} for a snapshot of ${megabytes(source.snapshotBytes)}`,
    });
    return [outcome(steady), outcome(peak)];
  },
};
