/** What the user may rely on: the reference against which the lifecycle is compared. It knows no runtimes, rows or leases. */
import assert from 'node:assert/strict';
import type { Message } from '../../../src/core/session/model.ts';
import { rootOf } from '../../../src/core/store/lineage.ts';
import { listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';

export interface ExpectedMessage {
  readonly role: 'user' | 'assistant';
  text: string;
  /** `cut`: its window died; it is interrupted as soon as somebody looks. */
  status: 'complete' | 'streaming' | 'interrupted' | 'cut';
}

export class ExpectedChat {
  readonly id: string;
  readonly messages: ExpectedMessage[] = [];
  endedAs: 'archived' | 'session_reset' | null = null;
  /** The window in which an answer runs. */
  streamsIn: string | null = null;
  /** The window that writes the chat at the moment. */
  writer: string | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get answer(): ExpectedMessage {
    const last = this.messages.at(-1);
    assert.ok(last?.role === 'assistant');
    return last;
  }

  /** The running answer is over, however. */
  answered(status: 'complete' | 'interrupted' | 'cut'): void {
    if (this.streamsIn === null) return;
    this.answer.status = status;
    this.streamsIn = null;
  }
}

/**
 * The invariant: every chat is listed where it belongs and nowhere else, and shows every acknowledged message once, in order.
 */
export function assertShown(store: Store, chats: readonly ExpectedChat[]): void {
  store.read((reader) => {
    const listed = (archived: boolean): string[] =>
      listChats(reader, { archived, limit: 100 })
        .map(({ session }) => rootOf(reader, session.id))
        .sort();
    const wanted = (archived: boolean): string[] =>
      chats
        .filter(({ messages, endedAs }) => messages.length > 0 && (endedAs !== null) === archived)
        .map(({ id }) => id)
        .sort();
    assert.deepEqual(listed(false), wanted(false), 'the list of chats');
    assert.deepEqual(listed(true), wanted(true), 'the list of archived chats');
    for (const chat of chats) {
      assertMessages(displayMessages(reader, chat.id).messages, chat, 'stored');
    }
  });
}

/** A message whose answer was cut off may hold more than was acknowledged, never less. */
export function assertMessages(messages: readonly Message[], chat: ExpectedChat, where: string): void {
  const shown = messages.filter(({ role, copyOf }) => role !== 'summary' && copyOf === null);
  const told = (rows: readonly { role: string; text: string; status: string }[]): string =>
    rows.map(({ role, text, status }) => `${role} ${status} ${text}`).join('\n');
  const difference = `${where}: ${chat.id} shows\n${told(shown)}\ninstead of\n${told(chat.messages)}`;
  assert.equal(shown.length, chat.messages.length, difference);
  for (const [index, wanted] of chat.messages.entries()) {
    const message = shown[index];
    assert.ok(message !== undefined && message.role === wanted.role, difference);
    const isWhole = wanted.status === 'complete' || wanted.status === 'streaming';
    const hasText = isWhole ? message.text === wanted.text : message.text.startsWith(wanted.text);
    const statuses = wanted.status === 'cut' ? ['streaming', 'interrupted'] : [wanted.status];
    assert.ok(hasText && statuses.includes(message.status), difference);
  }
}
