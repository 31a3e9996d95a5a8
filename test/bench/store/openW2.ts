/** Opening a large store. */
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, medianRatio, short } from '../statistics.ts';
import { cloneW2, megabytes, w2Store } from '../w2Store.ts';

const pairs = 7;

export const openW2: Benchmark = single(
  {
    name: 'open-w2',
    group: 'store',
    what: 'open W2 with the journal just under its threshold ÷ reading the same bytes with fs.readFile',
    unit: 'ratio',
    bar: 3,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const source = await w2Store(context);
    const folder = context.makeFolder();
    cloneW2(source, folder);
    const opened: number[] = [];
    const read: number[] = [];
    const measure = {
      open: async (ask: (question: string) => Promise<number>) => void opened.push(await ask('open')),
      read: async (ask: (question: string) => Promise<number>) => void read.push(await ask('read')),
    };
    for (let pair = 0; pair < pairs; pair++) {
      // A new process each time, as after a reload; the files are in the cache of the system for both.
      await withChild('opening', [folder], async (child) => {
        const ask = (question: string): Promise<number> => child.ask(v.number(), question);
        await (pair % 2 === 0 ? measure.read(ask) : measure.open(ask));
        await (pair % 2 === 0 ? measure.open(ask) : measure.read(ask));
      });
    }
    return {
      value: medianRatio(opened, read),
      note: `open ${short(median(opened))} ms, readFile ${short(median(read))} ms; snapshot ${megabytes(source.snapshotBytes)}, journal ${megabytes(source.journalBytes)}`,
    };
  },
);
