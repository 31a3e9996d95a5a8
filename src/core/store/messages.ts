/** The transcript's rows. Text grows by appending, so streaming costs what the chunk costs. */
import * as v from 'valibot';
import { messageSchema, type Message, type ToolCall } from '../session/model.ts';
import { firstWords } from '../session/text.ts';
import { StoreValueError } from './errors.ts';
import { fitsInFrame } from './frame.ts';
import { lineageMembers } from './lineage.ts';
import {
  callsToJson,
  contentColumns,
  contentsOf,
  contentValues,
  type Contents,
  type ContentsWish,
} from './messageContents.ts';
import { touchSession } from './sessions.ts';
import type { ReadTransaction, Row, Value, WriteTransaction } from './transaction.ts';

/** What a copy of a message has in common with it, apart from its contents. */
export const facts =
  'role, status, tool_call_id, tool_name, problem, active, created_at, finished_at, model_id, usage';
/** Every column, in the order of a copy: its own ones first. */
export const columns = `id, session_id, seq, copy_of, ${facts}, ${contentColumns}`;

/** Longest preview in UTF-16 units. */
export const previewLength = 200;

function parseJson(value: Value | undefined): unknown {
  return typeof value === 'string' ? JSON.parse(value) : null;
}

function toMessage(reader: ReadTransaction, row: Row, wish: ContentsWish): Message {
  return v.parse(messageSchema, {
    id: row['id'],
    sessionId: row['session_id'],
    seq: row['seq'],
    role: row['role'],
    status: row['status'],
    ...contentsOf(reader, row, wish),
    toolCallId: row['tool_call_id'],
    toolName: row['tool_name'],
    problem: parseJson(row['problem']),
    active: row['active'] === 1,
    copyOf: row['copy_of'],
    createdAt: row['created_at'],
    finishedAt: row['finished_at'],
    modelId: row['model_id'],
    usage: parseJson(row['usage']),
  });
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Null: there is none. Throws BlobUnreadableError if its contents are required and cannot be read. */
export function getMessage(reader: ReadTransaction, id: string, wish: ContentsWish = 'read'): Message | null {
  const row = reader.get(`SELECT ${columns} FROM messages WHERE id = ?`, [id]);
  return row === undefined ? null : toMessage(reader, row, wish);
}

/** The message with its contents, if they were left in their file. One that is not stored any more is unreadable. */
export function withContents(reader: ReadTransaction, message: Message): Message {
  if (message.contents !== 'left') return message;
  const stored = getMessage(reader, message.id);
  if (stored === null) return { ...message, contents: 'unreadable' };
  const { text, reasoning, toolCalls, contents } = stored;
  return { ...message, text, reasoning, toolCalls, contents };
}

const placesSchema = v.object({
  own: v.nullable(v.number()),
  last: v.nullable(v.number()),
  /** 1: the session has no preview yet; null: there is no such session. */
  lacks_preview: v.nullable(v.number()),
});

/** Where a message goes in its session. */
interface Place {
  /** The number it has there already. */
  readonly own: number | null;
  readonly next: number;
  readonly lacksPreview: boolean;
}

/**
 * Adds a message at the end of its session and keeps count, preview and activity of the session. Does nothing if the id is
 * there already: a repeated flush only adds what is missing. Returns the number it has in its session; `message.seq` is
 * the writer's guess and not used. Throws StoreValueError for a message whose contents are not here (see copyMessage).
 */
export function insertMessage(writer: WriteTransaction, message: Message): number {
  if (message.contents !== 'here') {
    throw new StoreValueError(`The contents of the message ${message.id} are not here to be stored.`);
  }
  const { sessionId } = message;
  const { own, next, lacksPreview } = placeFor(writer, message.id, sessionId);
  if (own !== null) return own;
  writer.run(
    `INSERT INTO messages(${columns}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      message.id,
      sessionId,
      next,
      message.copyOf,
      message.role,
      message.status,
      message.toolCallId,
      message.toolName,
      toJson(message.problem),
      Number(message.active),
      message.createdAt,
      message.finishedAt,
      message.modelId,
      toJson(message.usage),
      ...contentValues(writer, message),
    ],
  );
  noteMessage(writer, sessionId, message, lacksPreview);
  return next;
}

/**
 * Adds a copy of a stored message at the end of a session; contents in a blob stay where they are and are named by both. Does
 * nothing if the id is there already, or if the original is not.
 */
export function copyMessage(
  writer: WriteTransaction,
  originalId: string,
  copy: Pick<Message, 'id' | 'sessionId' | 'copyOf'>,
): void {
  const original = getMessage(writer, originalId);
  const { own, next, lacksPreview } = placeFor(writer, copy.id, copy.sessionId);
  if (own !== null || original === null) return;
  writer.run(
    `INSERT INTO messages(${columns}) SELECT ?, ?, ?, ?, ${facts}, ${contentColumns} FROM messages WHERE id = ?`,
    [copy.id, copy.sessionId, next, copy.copyOf, originalId],
  );
  noteMessage(writer, copy.sessionId, original, lacksPreview);
}

function placeFor(reader: ReadTransaction, id: string, sessionId: string): Place {
  const places = reader.get(
    `SELECT (SELECT seq FROM messages WHERE id = ?) AS own, (SELECT max(seq) FROM messages WHERE session_id = ?) AS last, (SELECT preview = '' FROM sessions WHERE id = ?) AS lacks_preview`,
    [id, sessionId, sessionId],
  );
  const { own, last, lacks_preview } = v.parse(placesSchema, places);
  return { own, next: (last ?? 0) + 1, lacksPreview: lacks_preview === 1 };
}

/** The session has one more message. */
function noteMessage(
  writer: WriteTransaction,
  sessionId: string,
  { role, text, createdAt }: Pick<Message, 'role' | 'text' | 'createdAt'>,
  lacksPreview: boolean,
): void {
  writer.run(
    'UPDATE sessions SET message_count = message_count + 1, last_activity_at = max(last_activity_at, ?), last_activity_seq = ? WHERE id = ?',
    [createdAt, writer.seq, sessionId],
  );
  if (!lacksPreview || role !== 'user') return;
  writer.run('UPDATE sessions SET preview = ? WHERE id = ?', [firstWords(text, previewLength), sessionId]);
}

/**
 * How much of a streamed text may be stored now, in UTF-16 units: all of it, or one less while it ends in the first half of
 * a surrogate pair, whose second half is still to come.
 */
export function wholeTextLength(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/**
 * Appends to a message that is still streaming. False: it is not there or no longer streaming, and nothing was changed.
 * Throws StoreValueError for a piece that begins or ends inside a surrogate pair (see wholeTextLength).
 */
export function appendMessageText(
  writer: WriteTransaction,
  id: string,
  text: string,
  reasoning = '',
): boolean {
  for (const piece of [text, reasoning]) {
    if (wholeTextLength(piece) !== piece.length || /^[\udc00-\udfff]/.test(piece)) {
      throw new StoreValueError('A piece of text was cut inside a character.');
    }
  }
  const row = writer.get('SELECT status FROM messages WHERE id = ?', [id]);
  if (row?.['status'] !== 'streaming') return false;
  if (!fitsInFrame([text, reasoning], writer.room)) {
    const known = requireContents(writer, id);
    const { toolCalls } = known;
    writeContents(writer, id, {
      text: known.text + text,
      reasoning: known.reasoning + reasoning,
      toolCalls,
    });
    return true;
  }
  // Short statements: they are written with every piece.
  if (text !== '') writer.run('UPDATE messages SET content=content||? WHERE id=?', [text, id]);
  if (reasoning !== '') writer.run('UPDATE messages SET reasoning=reasoning||? WHERE id=?', [reasoning, id]);
  return true;
}

/** Replaces the contents: for a writer that does not know how much of them is stored. */
export function setMessageContents(writer: WriteTransaction, id: string, contents: Contents): void {
  const stored = getMessage(writer, id);
  if (stored === null || (stored.contents === 'here' && isSame(stored, contents))) return;
  writeContents(writer, id, contents);
}

function isSame(stored: Contents, { text, reasoning, toolCalls }: Contents): boolean {
  return (
    stored.text === text &&
    stored.reasoning === reasoning &&
    callsToJson(stored.toolCalls) === callsToJson(toolCalls)
  );
}

export function setMessageToolCalls(
  writer: WriteTransaction,
  id: string,
  toolCalls: readonly ToolCall[],
): void {
  const calls = callsToJson(toolCalls);
  if (!fitsInFrame([calls], writer.room)) {
    const { text, reasoning } = requireContents(writer, id);
    writeContents(writer, id, { text, reasoning, toolCalls });
  } else writer.run('UPDATE messages SET tool_calls = ? WHERE id = ?', [calls, id]);
}

function writeContents(writer: WriteTransaction, id: string, contents: Contents): void {
  writer.run('UPDATE messages SET blob = ?, content = ?, reasoning = ?, tool_calls = ? WHERE id = ?', [
    ...contentValues(writer, contents),
    id,
  ]);
}

/** Of a message that is there. Throws BlobUnreadableError: what cannot be read must not be replaced by a part of it. */
function requireContents(reader: ReadTransaction, id: string): Contents {
  return getMessage(reader, id, 'require') ?? { text: '', reasoning: '', toolCalls: [] };
}

/** Adds a tool call unless the message has one with its id. */
export function addToolCall(writer: WriteTransaction, id: string, call: ToolCall): void {
  const calls = getMessage(writer, id)?.toolCalls ?? [];
  if (calls.some((known) => known.id === call.id)) return;
  setMessageToolCalls(writer, id, [...calls, call]);
}

export type MessageEnd = Pick<Message, 'status' | 'problem' | 'usage' | 'finishedAt'>;

/** Sets how a message ended; its tokens are added to the session's once. Does nothing if there is no such message. */
export function finishMessage(writer: WriteTransaction, id: string, end: MessageEnd): void {
  const message = getMessage(writer, id, 'leave');
  if (message === null) return;
  const usage = end.usage ?? message.usage;
  writer.run('UPDATE messages SET status = ?, problem = ?, usage = ?, finished_at = ? WHERE id = ?', [
    end.status,
    toJson(end.problem),
    toJson(usage),
    end.finishedAt,
    id,
  ]);
  touchSession(writer, message.sessionId, end.finishedAt ?? message.createdAt);
  const input = (usage?.inputTokens ?? 0) - (message.usage?.inputTokens ?? 0);
  const output = (usage?.outputTokens ?? 0) - (message.usage?.outputTokens ?? 0);
  if (input === 0 && output === 0) return;
  writer.run(
    'UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ? WHERE id = ?',
    [input, output, message.sessionId],
  );
}

/**
 * A retry replaced these: still shown, no longer sent to a model. After a compaction a row is shown as its original and sent
 * as its copy, so both change. Returns the ids of all that changed.
 */
export function supersedeMessages(writer: WriteTransaction, ids: readonly string[]): string[] {
  const all = [...new Set(ids.flatMap((id) => [id, ...twinsOf(writer, id)]))];
  for (const id of all) writer.run('UPDATE messages SET active = 0 WHERE id = ?', [id]);
  return all;
}

/** The other rows of the same chat that stand for the same message. */
function twinsOf(reader: ReadTransaction, id: string): string[] {
  const twins = reader
    .all(
      `SELECT t.id, t.session_id FROM messages m JOIN messages t ON t.id = m.copy_of OR t.copy_of = m.id OR t.copy_of = m.copy_of WHERE m.id = ? AND t.id <> m.id`,
      [id],
    )
    .map((row) => v.parse(twinSchema, row));
  if (twins.length === 0) return [];
  const chat = lineageMembers(reader, getMessage(reader, id, 'leave')?.sessionId ?? '');
  return twins.filter((twin) => chat.includes(twin.session_id)).map((twin) => twin.id);
}

const twinSchema = v.object({ id: v.string(), session_id: v.string() });

/**
 * Marks what streams in the session as interrupted, its text kept. It is no activity of the chat: nothing else changes.
 * Returns the ids.
 */
export function interruptStreaming(writer: WriteTransaction, sessionId: string, now: number): string[] {
  const ids = streamingMessages(writer)
    .filter((message) => message.sessionId === sessionId)
    .map((message) => message.id);
  for (const id of ids) {
    writer.run(`UPDATE messages SET status = 'interrupted', finished_at = ? WHERE id = ?`, [now, id]);
  }
  return ids;
}

export interface MessagePage {
  /** Only messages with a lower number in the session; absent or null: from the end. */
  readonly before?: number | null;
  /** The newest ones; absent or null: all. */
  readonly limit?: number | null;
  /** True: without the rows that are copies of others. */
  readonly withoutCopies?: boolean;
  /** Absent: they are read. */
  readonly contents?: ContentsWish;
}

/** Oldest first. */
export function listMessages(reader: ReadTransaction, sessionId: string, page: MessagePage = {}): Message[] {
  const copies = page.withoutCopies === true ? ' AND copy_of IS NULL' : '';
  const rows = reader.all(
    `SELECT ${columns} FROM messages WHERE session_id = ? AND seq < ?${copies} ORDER BY seq DESC LIMIT ?`,
    [sessionId, page.before ?? Number.MAX_SAFE_INTEGER, page.limit ?? -1],
  );
  return rows.map((row) => toMessage(reader, row, page.contents ?? 'read')).reverse();
}

/** Rows, not the session's counter: "empty" is never a counter of zero. */
export function countMessages(reader: ReadTransaction, sessionId: string | null = null): number {
  const row =
    sessionId === null
      ? reader.get('SELECT count(*) AS n FROM messages')
      : reader.get('SELECT count(*) AS n FROM messages WHERE session_id = ?', [sessionId]);
  return v.parse(v.number(), row?.['n']);
}

/** Every message that is streaming, or was when its window died. */
export function streamingMessages(reader: ReadTransaction): Message[] {
  const rows = reader.all(`SELECT ${columns} FROM messages WHERE status = 'streaming' ORDER BY id`);
  return rows.map((row) => toMessage(reader, row, 'leave'));
}
