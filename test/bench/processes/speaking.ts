/**
 * A window that writes a chat. Arguments: the folder, the checkpoint worker, the chat, chunks per answer, chunks per second.
 * Questions: `open`: a first answer of one chunk; `speak`: an answer in which each chunk says when it was given.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ulid } from 'ulid';
import type { ChatModel } from '../../../src/core/models/chatModel.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { answerQuestions } from '../answering.ts';
import { sharedTime, showChat } from '../window.ts';

const [folder = '', worker = '', sessionId = '', count = '0', rate = '1'] = process.argv.slice(2);
let chunks = 1;
let runtime: ChatRuntime | null = null;

const model: ChatModel = {
  id: 'speaking',
  name: 'speaking',
  async *stream() {
    const start = sharedTime();
    for (let chunk = 0; chunk < chunks; chunk++) {
      await pause(Math.max(0, start + (1000 * chunk) / Number(rate) - sharedTime()));
      yield { type: 'text', text: `<${sharedTime().toFixed(3)}>` };
    }
    yield { type: 'finish', usage: null };
  },
};

async function answer(): Promise<void> {
  if (runtime === null) throw new Error('open comes first');
  await runtime.send(ulid(), 'Speak');
  while (runtime.isRunning) await pause(5);
  await runtime.flush();
}

answerQuestions({
  open: async () => {
    runtime = await showChat({ folder, worker, sessionId }, model, () => undefined);
    await answer();
  },
  speak: async () => {
    chunks = Number(count);
    await answer();
  },
});
