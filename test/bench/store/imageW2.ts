/** How large the image of a large store is, which every open reads and every window holds. */
import * as v from 'valibot';
import { readerOf } from '../../../src/core/store/blobFile.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { loadSnapshot } from '../../../src/core/store/snapshot.ts';
import type { ReadTransaction } from '../../../src/core/store/transaction.ts';
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
    const textBytes = bytesOfText(readerOf(database, { files: filesWithoutSync, folder: source.folder }));
    database.close();
    return {
      value: source.snapshotBytes / textBytes,
      note: `snapshot ${megabytes(source.snapshotBytes)}, text ${megabytes(textBytes)}`,
    };
  },
);

/** Also of what stands in blobs. */
function bytesOfText(reader: ReadTransaction): number {
  const inline = reader.get('SELECT sum(octet_length(content)) AS bytes FROM messages');
  const references = reader.all('SELECT blob FROM messages WHERE blob IS NOT NULL');
  return references.reduce(
    (sum, { blob }) => {
      const [text = ''] = reader.readBlob(v.parse(v.string(), blob));
      return sum + Buffer.byteLength(text);
    },
    v.parse(v.number(), inline?.['bytes']),
  );
}
