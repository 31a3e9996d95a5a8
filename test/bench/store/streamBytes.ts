/** What streaming an answer costs the disk. */
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Recorder } from '../../../src/core/runtime/recorder.ts';
import type { Message } from '../../../src/core/session/model.ts';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { focusedFollowInterval } from '../../../src/core/store/storeOptions.ts';
import { single, type Benchmark } from '../benchmark.ts';
import { short } from '../statistics.ts';
import { openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const chunks = 20_000;
const chunksPerSecond = 80;
/** Of a chunk on average, as models send them. */
const chunkBytes = 4.5;

export const streamBytes: Benchmark = single(
  {
    name: 'stream-bytes',
    group: 'store',
    what: 'bytes written while 20,000 chunks stream at 80/s (time compressed) ÷ bytes of the text',
    unit: 'ratio',
    bar: 4,
    direction: 'atMost',
    needsSqlite: false,
  },
  async ({ makeFolder, checkpointWorkerFile }) => {
    let written = 0;
    let writes = 0;
    const files: FileLayer = {
      ...nodeFiles,
      append(descriptor, bytes) {
        written += bytes.length;
        writes += 1;
        return nodeFiles.append(descriptor, bytes);
      },
    };
    const conversations = new Conversations(6);
    const session = conversations.chat();
    const text = conversations.message(session.id, Math.round(chunks * chunkBytes)).text;
    // The timers of store and recorder run on a clock that each chunk moves on.
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    try {
      const store = await openStore(makeFolder(), checkpointWorkerFile, { files });
      await store.write((writer) => insertSession(writer, session));
      // At its first look the window makes the reserve of the folder, once for all streams.
      mock.timers.tick(focusedFollowInterval);
      await turn();
      [written, writes] = [0, 0];
      let message: Message = {
        ...conversations.message(session.id, 0, 1),
        status: 'streaming',
        finishedAt: null,
      };
      const recorder = new Recorder({
        write: (change) => store.write(change),
        message: (id) => (id === message.id ? message : undefined),
        onSaved: () => undefined,
        onProblem: (problem) => {
          if (problem !== null) throw new Error(problem.message);
        },
        isFinal: () => false,
      });
      recorder.changed([message.id]);
      for (const chunk of inChunks(text)) {
        message = { ...message, text: message.text + chunk };
        recorder.textAdded(message.id, chunk);
        mock.timers.tick(1000 / chunksPerSecond);
        await turn();
      }
      message = { ...message, status: 'complete', finishedAt: message.createdAt };
      recorder.changed([message.id]);
      await recorder.flush();
      await store.close();
    } finally {
      mock.timers.reset();
    }
    const bytes = Buffer.byteLength(text);
    return {
      value: written / bytes,
      note: `${written} bytes in ${writes} writes for ${bytes} bytes of text, ${short(bytes / chunks)} a chunk`,
    };
  },
);

/** Whole characters, in as many pieces as there are chunks. */
function inChunks(text: string): string[] {
  return Array.from({ length: chunks }, (_, index) =>
    text.slice(Math.floor((index * text.length) / chunks), Math.floor(((index + 1) * text.length) / chunks)),
  );
}
