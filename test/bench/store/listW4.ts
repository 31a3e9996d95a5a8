/** The first page of the chat list, right after opening a store of very many chats. */
import * as v from 'valibot';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { saveDraft } from '../../../src/core/store/drafts.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { single, type BenchContext, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, short } from '../statistics.ts';
import { filesWithoutSync, openStore, wasmFile } from '../stores.ts';
import { Conversations, w4 } from '../workloads.ts';

const runs = 7;
const chatsPerWrite = 20;
/** One chat in so many has typed text that was not sent. */
const draftEvery = 20;

const listedSchema = v.object({ opened: v.number(), listed: v.number(), again: v.number() });

export const listW4: Benchmark = single(
  {
    name: 'list-w4',
    group: 'store',
    what: 'W4 (50,000 chats): what the chat list asks for, 200 open chats and whether any is archived, right after open',
    unit: 'ms',
    bar: 50,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const folder = context.makeFolder();
    const chats = await makeW4(folder, context);
    const listed: number[] = [];
    const again: number[] = [];
    const opened: number[] = [];
    for (let run = 0; run < runs; run++) {
      // A new process each time, as after a reload.
      const times = await withChild('listing', [folder], (child) => child.ask(listedSchema, 'list'));
      listed.push(times.listed);
      again.push(times.again);
      opened.push(times.opened);
    }
    return {
      value: median(listed),
      note: `${chats} chats, no archived one; once more in the same window ${short(median(again))} ms; the open before it ${short(median(opened))} ms`,
    };
  },
);

/** Gives the number of chats. */
async function makeW4(folder: string, { scale, say }: BenchContext): Promise<number> {
  const chats = Math.round(w4.chats * scale);
  say(`Making ${chats} chats`);
  const engine = await loadEngine(filesWithoutSync.readFile(wasmFile));
  const store = await openStore(folder, null, {
    files: filesWithoutSync,
    runCheckpoint: async (job, isWindowAlive) =>
      runCheckpoint({ files: filesWithoutSync, engine, now: Date.now(), isWindowAlive }, job),
    journalLimit: Number.POSITIVE_INFINITY,
    followInterval: 0,
  });
  const conversations = new Conversations(4);
  for (let done = 0; done < chats; done += chatsPerWrite) {
    const count = Math.min(chatsPerWrite, chats - done);
    const added = Array.from({ length: count }, () => {
      const session = conversations.chat();
      const messages = Array.from({ length: w4.messages }, (_, index) =>
        conversations.message(session.id, w4.messageBytes, index),
      );
      return { session, messages };
    });
    await store.write((writer) => {
      for (const [index, { session, messages }] of added.entries()) {
        insertSession(writer, session);
        for (const message of messages) insertMessage(writer, message);
        if (index % draftEvery !== 0) continue;
        const draft = { text: 'typed', caret: 5, scroll: null, editedAt: session.createdAt };
        saveDraft(writer, { key: session.id, sessionId: session.id, draft });
      }
    });
  }
  await store.checkpoint();
  await store.close();
  return chats;
}
