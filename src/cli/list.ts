/** `holdfast list` and `holdfast show`. */
import * as v from 'valibot';
import type { Session } from '../core/session/model.ts';
import { readableText } from '../core/session/text.ts';
import { chatTitle } from '../core/session/title.ts';
import { listSessions, requireSession, type OnUnreadable } from '../core/store/sessions.ts';
import type { Store } from '../core/store/store.ts';
import type { ReadTransaction } from '../core/store/transaction.ts';
import { displayMessages } from '../core/store/transcript.ts';
import { runningSessions, stateOf, type ChatStateName } from './chatState.ts';
import { minute, plainLine, plainText, printJson, table, type Output } from './output.ts';

export interface ListedChat {
  readonly id: string;
  readonly title: string;
  readonly state: ChatStateName;
  readonly source: string;
  readonly messageCount: number;
  /** Unix time in milliseconds. */
  readonly lastActivityAt: number;
}

const archivedFilter = { open: false, archived: true, all: null } as const;

/**
 * Latest activity first. `open`: every chat that the user has not archived, once, at the row it goes on in. `all`: every row of
 * the store, also the empty ones and those a compaction closed. Chats that cannot be read are told to `onUnreadable`.
 */
export function readList(
  store: Store,
  which: keyof typeof archivedFilter,
  onUnreadable: OnUnreadable,
): ListedChat[] {
  return store.read((reader) => {
    const running = runningSessions(reader, (windowId) => store.isWindowAlive(windowId));
    const filter = { archived: archivedFilter[which], limit: Number.MAX_SAFE_INTEGER };
    const unreadable = new Set<string>();
    const chats = listSessions(reader, filter, (error) => {
      unreadable.add(error.sessionId);
      onUnreadable(error);
    });
    const sessions = which === 'all' ? withOtherRows(reader, chats, unreadable) : chats;
    return sessions.map((session) => ({
      id: session.id,
      title: chatTitle(session),
      state: stateOf(session, running),
      source: session.source,
      messageCount: session.messageCount,
      lastActivityAt: session.lastActivityAt,
    }));
  });
}

function withOtherRows(
  reader: ReadTransaction,
  chats: readonly Session[],
  unreadable: ReadonlySet<string>,
): Session[] {
  const listed = new Set([...chats.map(({ id }) => id), ...unreadable]);
  const ids = reader.all('SELECT id FROM sessions').map((row) => v.parse(v.string(), row['id']));
  const others = ids.filter((id) => !listed.has(id)).map((id) => requireSession(reader, id));
  return [...chats, ...others].sort(
    (first, second) => second.lastActivityAt - first.lastActivityAt || (first.id < second.id ? 1 : -1),
  );
}

export function printList(chats: readonly ListedChat[], json: boolean, output: Output): void {
  if (json) printJson(output, chats);
  else if (chats.length === 0) output.complain('There are no such chats.\n');
  else {
    const rows = chats.map(({ id, state, messageCount, lastActivityAt, title }) => [
      id,
      state,
      String(messageCount),
      minute(lastActivityAt),
      plainLine(title),
    ]);
    output.print(table([['ID', 'STATE', 'MESSAGES', 'LAST ACTIVITY', 'TITLE'], ...rows]));
  }
}

/** The chat as a panel would show it. Throws UnknownSessionError. */
export function showChat(store: Store, id: string, json: boolean, output: Output): void {
  const chat = store.read((reader) => {
    const session = requireSession(reader, id);
    const running = runningSessions(reader, (windowId) => store.isWindowAlive(windowId));
    const { messages } = displayMessages(reader, id);
    return { id, title: chatTitle(session), state: stateOf(session, running), messages };
  });
  const messages = chat.messages.map((message) => ({
    id: message.id,
    seq: message.seq,
    role: message.role,
    status: message.status,
    text: readableText(message),
    ...(message.contents === 'here' ? {} : { unreadable: true }),
  }));
  if (json) {
    printJson(output, { ...chat, messages });
    return;
  }
  output.print(`${plainLine(chat.title)} (${chat.state})\n`);
  for (const { seq, role, status, text } of messages) {
    output.print(`\n--- ${seq} ${role}${status === 'complete' ? '' : ` (${status})`}\n${plainText(text)}\n`);
  }
}
