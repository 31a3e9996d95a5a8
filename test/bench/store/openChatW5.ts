/** Opening a chat that holds one huge message, against the same chat without it. */
import { loadChat } from '../../../src/core/runtime/loadChat.ts';
import { insertMessage, withContents } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { single, type BenchContext, type Benchmark } from '../benchmark.ts';
import { interleave, median, medianRatio, short, timed } from '../statistics.ts';
import { filesWithoutSync, openStore } from '../stores.ts';
import { Conversations, w5 } from '../workloads.ts';

const rounds = 7;
const messagesPerWrite = 50;
const shownMessages = 50;

interface Chat {
  readonly store: Store;
  readonly id: string;
}

export const openChatW5: Benchmark = single(
  {
    name: 'open-chat-w5',
    group: 'store',
    what: 'opening a chat of 5,000 messages, one of them of 50 MB, to its last 50 ÷ the same chat without that message',
    unit: 'ratio',
    bar: 1.2,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const large = await makeChat(context, Math.round(w5.largeBytes * context.scale));
    const plain = await makeChat(context, null);
    const read = ({ store, id }: Chat) =>
      timed(() => {
        store.read((reader) => {
          const messages = loadChat(reader, id)?.messages ?? [];
          for (const message of messages.slice(-shownMessages)) withContents(reader, message);
        });
      });
    const [withLarge = [], without = []] = await interleave(rounds, [() => read(large), () => read(plain)]);
    await large.store.close();
    await plain.store.close();
    return {
      value: medianRatio(withLarge, without),
      note: `with it ${short(median(withLarge))} ms, without ${short(median(without))} ms`,
    };
  },
);

/** `largeBytes`: of a message in the middle; null: there is none. */
async function makeChat({ makeFolder, scale, say }: BenchContext, largeBytes: number | null): Promise<Chat> {
  const count = Math.round(w5.messages * scale);
  say(`Making a chat of ${count} messages${largeBytes === null ? '' : ` and one of ${largeBytes} bytes`}`);
  const store = await openStore(makeFolder(), null, { files: filesWithoutSync, followInterval: 0 });
  const conversations = new Conversations(5);
  const session = conversations.chat();
  await store.write((writer) => insertSession(writer, session));
  for (let done = 0; done < count; done += messagesPerWrite) {
    const messages = conversations.messages(session.id, messagesPerWrite);
    await store.write((writer) => {
      for (const message of messages) insertMessage(writer, message);
    });
    if (largeBytes === null || done !== Math.floor(count / 2 / messagesPerWrite) * messagesPerWrite) continue;
    const message = { ...conversations.message(session.id, 0), text: 'large '.repeat(largeBytes / 6) };
    await store.write((writer) => insertMessage(writer, message));
  }
  await store.tidy();
  return { store, id: session.id };
}
