/** A chat in which tools gave 600 MiB: more than one string can hold. */
import { loadChat } from '../../../src/core/runtime/loadChat.ts';
import { makeMessage } from '../../../src/core/session/model.ts';
import { insertMessage, withContents } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { WriteTransaction } from '../../../src/core/store/transaction.ts';
import { single, type Benchmark } from '../benchmark.ts';
import { median, short, timed } from '../statistics.ts';
import { filesWithoutSync, openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const rows = 60;
const rowBytes = 10 << 20;
const rounds = 5;

export const openChatB52: Benchmark = single(
  {
    name: 'open-chat-b52',
    group: 'store',
    what: 'opening a chat of 60 tool results of 10 MiB to its last one',
    unit: 'ms',
    bar: 250,
    direction: 'atMost',
    needsSqlite: false,
  },
  async ({ makeFolder, scale, say }) => {
    const count = Math.max(2, Math.round(rows * scale));
    say(`Making a chat of ${count} tool results of 10 MiB`);
    const store = await openStore(makeFolder(), null, { files: filesWithoutSync, followInterval: 0 });
    const session = new Conversations(52).chat();
    await store.write((writer) => insertSession(writer, session));
    const line = 'src/booking/service.ts:40: return open < limit || customer.isStaff === true;\n';
    const text = line.repeat(Math.ceil(rowBytes / line.length));
    const saved: number[] = [];
    for (let index = 0; index < count; index++) {
      const facts = { id: `b52-${index}`, sessionId: session.id, seq: 0, createdAt: index };
      const message = makeMessage({ ...facts, role: 'tool', toolCallId: `${index}`, toolName: 'run', text });
      const save = (writer: WriteTransaction): void => void insertMessage(writer, message);
      saved.push(await timed(() => store.write(save)));
    }
    const opened: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const open = (): void =>
        store.read((reader) => {
          const last = loadChat(reader, session.id)?.messages.at(-1);
          if (last === undefined || withContents(reader, last).text.length !== text.length) {
            throw new Error('the chat does not read back');
          }
        });
      opened.push(await timed(open));
    }
    await store.close();
    return { value: median(opened), note: `${count} results, each saved in ${short(median(saved))} ms` };
  },
);
