/** Opens a store and adds messages, each in a commit of its own that waits for no disk. Argument: the folder. */
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { answerQuestions } from '../answering.ts';
import { median } from '../statistics.ts';
import { filesWithoutSync, openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const [folder = ''] = process.argv.slice(2);
const messageBytes = 1000;
/** As much as a busy day: far more than the pages an open leaves free in small stores. */
const count = 4000;

answerQuestions({
  insert: async () => {
    const store = await openStore(folder, null, { files: filesWithoutSync, followInterval: 0 });
    const conversations = new Conversations(process.pid);
    const session = conversations.chat();
    const messages = Array.from({ length: count }, () => conversations.message(session.id, messageBytes));
    await store.write((writer) => insertSession(writer, session));
    const times: number[] = [];
    for (const message of messages) {
      const start = performance.now();
      const written = store.write((writer) => insertMessage(writer, message));
      times.push(performance.now() - start);
      await written;
    }
    const total = times.reduce((sum, time) => sum + time, 0);
    return { worst: Math.max(...times), median: median(times), count, control: longestInterruption(total) };
  },
});

/** What the machine alone does to a loop of that many milliseconds. */
function longestInterruption(milliseconds: number): number {
  const end = performance.now() + milliseconds;
  let longest = 0;
  for (let before = performance.now(); before < end;) {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }
  return longest;
}
