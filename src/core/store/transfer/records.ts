/**
 * Chats on their way between stores: one record per chat, message, draft and memory. A backup file is a list of them, a store
 * can be read as one, and merge.ts brings one in. What belongs to a window and not to the user (places, leases) stays behind.
 */
import * as v from 'valibot';
import { draftSchema, messageSchema, sessionSchema, type Message } from '../../session/model.ts';
import { getDraft } from '../drafts.ts';
import { lineageMembers } from '../lineage.ts';
import { getMemory, memorySchema } from '../memories.ts';
import { getMessage } from '../messages.ts';
import { wasShownByPanel } from '../routes.ts';
import { getSession } from '../sessions.ts';
import type { ReadTransaction } from '../transaction.ts';

export const recordSchema = v.variant('type', [
  v.object({ type: v.literal('chat'), session: sessionSchema, wasShownByPanel: v.boolean() }),
  v.object({ type: v.literal('message'), message: messageSchema }),
  v.object({ type: v.literal('draft'), key: v.string(), sessionId: v.string(), draft: draftSchema }),
  v.object({ type: v.literal('memory'), memory: memorySchema }),
]);
export type ChatRecord = Readonly<v.InferOutput<typeof recordSchema>>;

/** Rows read at a time: their ids only, so that a page of large messages is not in memory at once. */
const pageSize = 500;

const idSchema = v.object({ id: v.string() });
const placeSchema = v.object({ id: v.string(), seq: v.number() });

/**
 * Every chat followed by its messages, then drafts and memories; with `chatId` those of the one chat that has this row. A row that cannot be read is left out and told to
 * `onUnreadable` in a sentence. The state must not change meanwhile.
 */
export function* readRecords(
  reader: ReadTransaction,
  onUnreadable: (what: string) => void,
  chatId: string | null = null,
): Generator<ChatRecord> {
  const only = chatId === null ? null : new Set(lineageMembers(reader, chatId));
  for (const id of only ?? idsOf(reader, 'sessions', 'id')) {
    const session = attempt(`The chat ${id}`, () => getSession(reader, id), onUnreadable);
    if (session === null) continue;
    yield { type: 'chat', session, wasShownByPanel: wasShownByPanel(reader, id) };
    for (const messageId of idsOfMessages(reader, id)) {
      const message = attempt(
        `The message ${messageId}`,
        () => getMessage(reader, messageId, 'require'),
        onUnreadable,
      );
      if (message !== null) yield { type: 'message', message };
    }
  }
  for (const key of idsOf(reader, 'drafts', 'key')) {
    const stored = attempt(`The draft ${key}`, () => getDraft(reader, key, 'require'), onUnreadable);
    const sessionId = stored?.sessionId ?? null;
    // Typed into a panel that has no chat yet: it belongs to the place.
    if (stored === null || sessionId === null || only?.has(sessionId) === false) continue;
    yield { type: 'draft', key, sessionId, draft: stored.draft };
  }
  for (const id of idsOf(reader, 'memories', 'id')) {
    const memory = attempt(`The memory ${id}`, () => getMemory(reader, id), onUnreadable);
    if (memory === null || only?.has(memory.sourceSessionId ?? '') === false) continue;
    yield { type: 'memory', memory };
  }
}

/** The next messages of one row of a chat, behind the number `after`; empty at its end. */
export function messagePlaces(
  reader: ReadTransaction,
  sessionId: string,
  after: number,
  withoutCopies: boolean,
): Pick<Message, 'id' | 'seq'>[] {
  const copies = withoutCopies ? ' AND copy_of IS NULL' : '';
  return reader
    .all(`SELECT id, seq FROM messages WHERE session_id = ? AND seq > ?${copies} ORDER BY seq LIMIT ?`, [
      sessionId,
      after,
      pageSize,
    ])
    .map((row) => v.parse(placeSchema, row));
}

function* idsOfMessages(reader: ReadTransaction, sessionId: string): Generator<string> {
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const places = messagePlaces(reader, sessionId, after, false);
    for (const { id } of places) yield id;
    const last = places.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

function* idsOf(reader: ReadTransaction, table: 'sessions' | 'drafts' | 'memories', column: 'id' | 'key') {
  let after = '';
  for (;;) {
    const ids = reader
      .all(`SELECT ${column} AS id FROM ${table} WHERE ${column} > ? ORDER BY ${column} LIMIT ?`, [
        after,
        pageSize,
      ])
      .map((row) => v.parse(idSchema, row).id);
    yield* ids;
    const last = ids.at(-1);
    if (last === undefined || ids.length < pageSize) return;
    after = last;
  }
}

/** Null: it could not be read (or `read` gave null), and `onUnreadable` was told. */
export function attempt<T>(what: string, read: () => T, onUnreadable: (what: string) => void): T | null {
  try {
    return read();
  } catch (error) {
    onUnreadable(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
