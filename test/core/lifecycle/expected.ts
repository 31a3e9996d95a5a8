/** What the user may rely on: the reference against which the lifecycle is compared. It knows no runtimes, rows or leases. */
import assert from 'node:assert/strict';
import type { Message } from '../../../src/core/session/model.ts';
import { forksOf } from '../../../src/core/store/forks.ts';
import { rootOf } from '../../../src/core/store/lineage.ts';
import { listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';

export interface ExpectedMessage {
  readonly role: 'user' | 'assistant';
  text: string;
  /** `cut`: its window died; it is interrupted as soon as somebody looks. */
  status: 'complete' | 'streaming' | 'interrupted' | 'cut';
  /** The same for a message and its copies in branches. */
  readonly origin: object;
}

export class ExpectedChat {
  readonly id: string;
  readonly messages: ExpectedMessage[] = [];
  endedAs: 'archived' | 'session_reset' | null = null;
  /** The window in which an answer runs. */
  streamsIn: string | null = null;
  /** The window that writes the chat at the moment. */
  writer: string | null = null;

  /** The same for all that branched off from one chat. */
  readonly family: object;

  constructor(id: string, family: object = {}) {
    this.id = id;
    this.family = family;
  }

  get answer(): ExpectedMessage {
    const last = this.messages.at(-1);
    assert.ok(last?.role === 'assistant');
    return last;
  }

  /** A prompt was taken, and its answer runs. */
  asked(text: string, windowId: string): void {
    this.messages.push({ role: 'user', text, status: 'complete', origin: {} });
    this.messages.push({ role: 'assistant', text: '', status: 'streaming', origin: {} });
    this.streamsIn = windowId;
    this.writer = windowId;
  }

  /** A chat of its own with the first `count` messages; what runs or was cut off is not there to go on. */
  branch(id: string, count: number): ExpectedChat {
    const branch = new ExpectedChat(id, this.family);
    for (const message of this.messages.slice(0, count)) {
      branch.messages.push({
        ...message,
        status: message.status === 'complete' ? 'complete' : 'interrupted',
      });
    }
    return branch;
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
      // Copies that are shown are those of a branch, which are its messages like any other.
      const messages = displayMessages(reader, chat.id).messages.map((row) => ({ ...row, copyOf: null }));
      assertMessages(messages, chat, 'stored');
    }
  });
}

/**
 * Where chats part, told by the messages alone: among those that begin alike up to a place, each message that follows there is
 * a way on, and each chat that ends there is one.
 */
export function assertForks(store: Store, chats: readonly ExpectedChat[]): void {
  for (const chat of chats) {
    const forks = store.read((reader) => forksOf(reader, chat.id));
    const wanted = chat.messages.length === 0 ? [] : waysOf(chat, chats);
    const ways = forks.map((fork) => fork.chats.length);
    assert.deepEqual(
      ways,
      wanted.map(({ size }) => size),
      `the ways of ${chat.id}`,
    );
    for (const [index, { chats: ids, current }] of forks.entries()) {
      const taken = chats.find(({ id }) => id === ids[current]);
      const next = wanted[index]?.next(chat);
      assert.ok(taken !== undefined && wanted[index]?.next(taken) === next, `the way that ${chat.id} goes`);
    }
  }
}

interface Ways {
  readonly size: number;
  /** What names the way that a chat goes. */
  readonly next: (chat: ExpectedChat) => object;
}

function waysOf(chat: ExpectedChat, chats: readonly ExpectedChat[]): Ways[] {
  const family = chats.filter(({ family: other }) => other === chat.family);
  return Array.from({ length: chat.messages.length + 1 }, (_, count): Ways => {
    const next = (one: ExpectedChat): object => one.messages[count]?.origin ?? one;
    const alike = family.filter((one) => isAlike(one, chat, count));
    return { size: new Set(alike.map(next)).size, next };
  }).filter(({ size }) => size > 1);
}

function isAlike(one: ExpectedChat, other: ExpectedChat, count: number): boolean {
  if (one.messages.length < count) return false;
  return one.messages.slice(0, count).every(({ origin }, index) => origin === other.messages[index]?.origin);
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
