/**
 * Two projections of a chat's rows. Display: everything that was ever said, through all compactions. Model: the active rows
 * of the row that is written now, which begins with the summary of the rest.
 */
import type { Message } from '../session/model.ts';
import { ChatUnreadableError } from './errors.ts';
import { lineageOf } from './lineage.ts';
import type { ContentsWish } from './messageContents.ts';
import { getMessage, listMessages } from './messages.ts';
import { requireSession } from './sessions.ts';
import type { ReadTransaction } from './transaction.ts';

export interface TranscriptPage {
  /** Only what is shown above this message; absent or null: from the end. */
  readonly before?: string | null;
  /** The newest ones; absent or null: all. */
  readonly limit?: number | null;
  /** Absent: they are read. */
  readonly contents?: ContentsWish;
}

export interface Transcript {
  /** Oldest first. */
  readonly messages: Message[];
  readonly hasOlder: boolean;
}

/**
 * The chat as shown: the rows of the whole lineage as they are, without the copies that compaction made. A page costs what
 * the page costs, however long the chat is. Throws ChatUnreadableError.
 */
export function displayMessages(
  reader: ReadTransaction,
  sessionId: string,
  page: TranscriptPage = {},
): Transcript {
  const path = lineageOf(reader, sessionId);
  let before: number | null = null;
  if (page.before !== undefined && page.before !== null) {
    const message = getMessage(reader, page.before, 'leave');
    const index = message === null ? -1 : path.indexOf(message.sessionId);
    if (message === null || index < 0) return { messages: [], hasOlder: false };
    path.splice(index + 1);
    before = message.seq;
  }
  const limit = page.limit ?? null;
  let messages: Message[] = [];
  for (let index = path.length - 1; index >= 0; index--) {
    const missing = limit === null ? null : limit + 1 - messages.length;
    if (missing !== null && missing <= 0) break;
    const rows = listMessages(reader, path[index] ?? '', {
      before,
      limit: missing,
      // The root may be a branch, whose rows are copies too, but of another chat.
      withoutCopies: index > 0,
      contents: page.contents ?? 'read',
    });
    messages = [...rows, ...messages];
    before = null;
  }
  if (messages.length === 0 && (page.before ?? null) === null) refuseMissingBodies(reader, path);
  const hasOlder = limit !== null && messages.length > limit;
  return { messages: hasOlder ? messages.slice(messages.length - (limit ?? 0)) : messages, hasOlder };
}

/** An empty chat is one that never had a message. Throws ChatUnreadableError for any other without one. */
export function refuseMissingBodies(reader: ReadTransaction, lineage: readonly string[]): void {
  for (const id of lineage) {
    const { messageCount } = requireSession(reader, id);
    if (messageCount > 0) throw new ChatUnreadableError(id, 'its messages are missing');
  }
}

/** What user and model said, for a summary of it: all contents, also of other rows, are left in their files. */
export function saidRows(reader: ReadTransaction, sessionId: string): Message[] {
  return displayMessages(reader, sessionId, { contents: 'leave' }).messages.filter(
    ({ role }) => role === 'user' || role === 'assistant',
  );
}

/** What the next request to a model is made of (see session/projection.ts): the active rows of the tip. */
export function modelMessages(
  reader: ReadTransaction,
  tipId: string,
  contents: ContentsWish = 'read',
): Message[] {
  return listMessages(reader, tipId, { contents }).filter((message) => message.active);
}
