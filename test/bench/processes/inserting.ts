/**
 * Opens a store and adds messages, each in a commit of its own that waits for no disk. Argument: the folder. Answers with the
 * milliseconds of each; every run adds the same ones, so what is slow in all of them is the store's doing.
 */
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { answerQuestions } from '../answering.ts';
import { filesWithoutSync, openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const [folder = ''] = process.argv.slice(2);
const messageBytes = 1000;
const count = 4000;

answerQuestions({
  insert: async () => {
    const store = await openStore(folder, null, { files: filesWithoutSync, followInterval: 0 });
    const conversations = new Conversations(3);
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
    return times;
  },
});
