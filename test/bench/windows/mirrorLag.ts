/** How soon a window that follows a chat shows what the window that writes it was told by its model. */
import { ulid } from 'ulid';
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, short } from '../statistics.ts';

const chunks = 200;
/** As fast as a model of the workloads speaks. */
const chunksPerSecond = 80;

export const mirrorLag: Benchmark = single(
  {
    name: 'mirror-lag',
    group: 'windows',
    what: `from a chunk of the model in the process that writes a chat to the message for the page in the process that follows it, median of ${chunks} chunks at ${chunksPerSecond}/s`,
    unit: 'ms',
    bar: 300,
    direction: 'atMost',
    needsSqlite: false,
  },
  async ({ makeFolder, checkpointWorkerFile }) => {
    const shown = [makeFolder(), checkpointWorkerFile, ulid()];
    return withChild('speaking', [...shown, String(chunks), String(chunksPerSecond)], (writer) =>
      withChild('watching', shown, async (mirror) => {
        await writer.ask(v.unknown(), 'open');
        await mirror.ask(v.literal('elsewhere'), 'open');
        const [lags] = await Promise.all([
          mirror.ask(v.array(v.number()), 'lags'),
          writer.ask(v.unknown(), 'speak'),
        ]);
        const note = `the longest ${short(Math.max(...lags))} ms; ${lags.length} chunks arrived`;
        return { value: lags.length === chunks ? median(lags) : null, note };
      }),
    );
  },
);
