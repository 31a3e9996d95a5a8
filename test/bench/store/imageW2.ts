/** How large the image of a large store is, which every open reads and every window holds. */
import * as v from 'valibot';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { loadSnapshot } from '../../../src/core/store/snapshot.ts';
import { single, type Benchmark } from '../benchmark.ts';
import { filesWithoutSync, wasmFile } from '../stores.ts';
import { megabytes, w2Store } from '../w2Store.ts';

export const imageW2: Benchmark = single(
  {
    name: 'image-w2',
    group: 'store',
    what: 'snapshot of W2 ÷ bytes of the text of its messages',
    unit: 'ratio',
    bar: 0.15,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const source = await w2Store(context);
    const engine = await loadEngine(filesWithoutSync.readFile(wasmFile));
    const { database } = loadSnapshot(filesWithoutSync, source.folder, engine, source.snapshot);
    const sum = 'SELECT sum(length(CAST(content AS BLOB))) AS bytes FROM messages';
    const textBytes = v.parse(v.number(), database.get(sum)?.['bytes']);
    database.close();
    return {
      value: source.snapshotBytes / textBytes,
      note: `snapshot ${megabytes(source.snapshotBytes)}, text ${megabytes(textBytes)}`,
    };
  },
);
