/**
 * A window that shows a chat which another one writes. Arguments: the folder, the checkpoint worker, the chat (empty: it shows a
 * new one of its own), milliseconds. Questions: `open`; `lags`: how long each chunk of the next answer was on its way to
 * the page, in milliseconds; `idle`: the CPU that doing nothing takes, in microseconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ulid } from 'ulid';
import type { ChatModel } from '../../../src/core/models/chatModel.ts';
import type { HostMessage } from '../../../src/core/protocol/hostMessages.ts';
import { answerQuestions } from '../answering.ts';
import { sharedTime, showChat } from '../window.ts';

const [folder = '', worker = '', sessionId = '', milliseconds = '0'] = process.argv.slice(2);
const model: ChatModel = {
  id: 'mute',
  name: 'mute',
  // eslint-disable-next-line require-yield
  async *stream() {
    throw new Error('Nobody asks here.');
  },
};
let lags: number[] = [];
let told: () => void = () => undefined;

function receive(message: HostMessage): void {
  if (message.type !== 'event') return;
  const { event } = message;
  const text =
    event.type === 'textAppended' ? event.text : event.type === 'messageAdded' ? event.message.text : '';
  for (const [, at] of text.matchAll(/<([\d.]+)>/g)) lags.push(sharedTime() - Number(at));
  if (event.type === 'messageFinished') told();
}

answerQuestions({
  open: async () => {
    const shown = { folder, worker, sessionId: sessionId === '' ? ulid() : sessionId };
    const runtime = await showChat(shown, model, receive);
    return runtime.state.owner;
  },
  lags: async () => {
    lags = [];
    await new Promise<void>((resolve) => (told = resolve));
    return lags;
  },
  idle: async () => {
    const before = process.cpuUsage();
    await pause(Number(milliseconds));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  },
});
