/** Opens a store and lists its chats as the chat list does. Argument: the folder. Answers are milliseconds. */
import { listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { answerQuestions } from '../answering.ts';
import { timed } from '../statistics.ts';
import { openStore } from '../stores.ts';

const pageSize = 200;
const [folder = ''] = process.argv.slice(2);

function list(store: Store): void {
  store.read((reader) => {
    listChats(reader, { archived: false, limit: pageSize + 1 });
    listChats(reader, { archived: true, limit: 1 });
  });
}

answerQuestions({
  list: async () => {
    const start = performance.now();
    const store = await openStore(folder, null, { followInterval: 0 });
    const opened = performance.now() - start;
    const listed = await timed(() => list(store));
    const again = await timed(() => list(store));
    await store.close();
    return { opened, listed, again };
  },
});
