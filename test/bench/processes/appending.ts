/**
 * One of several processes that append to the same stores. Arguments: our folder, the native one, the checkpoint worker, messages per
 * question. Questions: `open`, `ours`, `native`.
 */
import type { Message } from '../../../src/core/session/model.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { answerQuestions } from '../answering.ts';
import { NativeStore } from '../nativeStore.ts';
import { openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const [folder = '', nativeFolder = '', worker = '', count = '0'] = process.argv.slice(2);
const messageBytes = 1000;
// Each process has texts and ids of its own.
const conversations = new Conversations(process.pid);
const session = conversations.chat();
let sides: { readonly ours: Store; readonly native: NativeStore } | null = null;

function openSides(): NonNullable<typeof sides> {
  if (sides === null) throw new Error('open comes first');
  return sides;
}

function messages(): Message[] {
  return Array.from({ length: Number(count) }, () => conversations.message(session.id, messageBytes));
}

/** SQLite's words for it; our store has no locks. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && /locked|busy/i.test(error.message);
}

async function countLocked(each: (message: Message) => unknown): Promise<{ locked: number }> {
  let locked = 0;
  for (const message of messages()) {
    for (;;) {
      try {
        await each(message);
        break;
      } catch (error) {
        if (!isLocked(error)) throw error;
        locked += 1;
      }
    }
  }
  return { locked };
}

answerQuestions({
  open: async () => {
    const ours = await openStore(folder, worker);
    const native = await NativeStore.open(nativeFolder);
    await ours.write((writer) => insertSession(writer, session));
    native.write((writer) => insertSession(writer, session));
    sides = { ours, native };
  },
  ours: () => countLocked((message) => openSides().ours.write((writer) => insertMessage(writer, message))),
  native: () =>
    countLocked((message) => openSides().native.write((writer) => insertMessage(writer, message))),
});
