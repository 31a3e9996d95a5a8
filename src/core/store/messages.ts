/** The transcript's rows. Text grows by appending, so streaming costs what the chunk costs. */
import * as v from 'valibot';
import { messageSchema, type Message, type ToolCall } from '../session/model.ts';
import { firstWords } from '../session/text.ts';
import { StoreValueError } from './errors.ts';
import { lineageMembers } from './lineage.ts';
import { touchSession } from './sessions.ts';
import type { ReadTransaction, Row, Value, WriteTransaction } from './transaction.ts';

const columns =
  'id, session_id, seq, role, status, content, reasoning, tool_calls, tool_call_id, tool_name, problem, active, copy_of, created_at, finished_at, model_id, usage';

/** Longest preview in UTF-16 units. */
const previewLength = 200;

function parseJson(value: Value | undefined): unknown {
  return typeof value === 'string' ? JSON.parse(value) : null;
}

function toMessage(row: Row): Message {
  return v.parse(messageSchema, {
    id: row['id'],
    sessionId: row['session_id'],
    seq: row['seq'],
    role: row['role'],
    status: row['status'],
    text: row['content'],
    reasoning: row['reasoning'],
    toolCalls: parseJson(row['tool_calls']) ?? [],
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

function callsToJson(calls: readonly ToolCall[]): string | null {
  return calls.length === 0 ? null : JSON.stringify(calls);
}

/** Null: there is none. */
export function getMessage(reader: ReadTransaction, id: string): Message | null {
  const row = reader.get(`SELECT ${columns} FROM messages WHERE id = ?`, [id]);
  return row === undefined ? null : toMessage(row);
}

const placesSchema = v.object({ own: v.nullable(v.number()), last: v.nullable(v.number()) });

/**
 * Adds a message at the end of its session and keeps count, preview and activity of the session. Does nothing if the id is
 * there already: a repeated flush only adds what is missing. Returns the number it has in its session; `message.seq` is
 * the writer's guess and not used.
 */
export function insertMessage(writer: WriteTransaction, message: Message): number {
  const { sessionId } = message;
  const places = writer.get(
    'SELECT (SELECT seq FROM messages WHERE id = ?) AS own, (SELECT max(seq) FROM messages WHERE session_id = ?) AS last',
    [message.id, sessionId],
  );
  const { own, last } = v.parse(placesSchema, places);
  if (own !== null) return own;
  const seq = (last ?? 0) + 1;
  writer.run(
    'INSERT INTO messages(id, session_id, seq, role, status, content, reasoning, tool_calls, tool_call_id, tool_name, problem, active, copy_of, created_at, finished_at, model_id, usage) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    [
      message.id,
      sessionId,
      seq,
      message.role,
      message.status,
      message.text,
      message.reasoning,
      callsToJson(message.toolCalls),
      message.toolCallId,
      message.toolName,
      toJson(message.problem),
      Number(message.active),
      message.copyOf,
      message.createdAt,
      message.finishedAt,
      message.modelId,
      toJson(message.usage),
    ],
  );
  const preview = message.role === 'user' ? firstWords(message.text, previewLength) : '';
  writer.run(
    `UPDATE sessions SET message_count = message_count + 1, last_activity_at = max(last_activity_at, ?), last_activity_seq = ?, preview = CASE WHEN preview = '' THEN ? ELSE preview END WHERE id = ?`,
    [message.createdAt, writer.seq, preview, sessionId],
  );
  return seq;
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
  // Short statements: they are written with every piece.
  if (text !== '') writer.run('UPDATE messages SET content=content||? WHERE id=?', [text, id]);
  if (reasoning !== '') writer.run('UPDATE messages SET reasoning=reasoning||? WHERE id=?', [reasoning, id]);
  return true;
}

/** Replaces the text: for a writer that does not know how much of it is stored. */
export function setMessageContent(
  writer: WriteTransaction,
  id: string,
  text: string,
  reasoning: string,
): void {
  const row = writer.get('SELECT content, reasoning FROM messages WHERE id = ?', [id]);
  if (row === undefined || (row['content'] === text && row['reasoning'] === reasoning)) return;
  writer.run('UPDATE messages SET content = ?, reasoning = ? WHERE id = ?', [text, reasoning, id]);
}

export function setMessageToolCalls(writer: WriteTransaction, id: string, calls: readonly ToolCall[]): void {
  writer.run('UPDATE messages SET tool_calls = ? WHERE id = ?', [callsToJson(calls), id]);
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
  const message = getMessage(writer, id);
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
  const chat = lineageMembers(reader, getMessage(reader, id)?.sessionId ?? '');
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
}

/** Oldest first. */
export function listMessages(reader: ReadTransaction, sessionId: string, page: MessagePage = {}): Message[] {
  const copies = page.withoutCopies === true ? ' AND copy_of IS NULL' : '';
  const rows = reader.all(
    `SELECT ${columns} FROM messages WHERE session_id = ? AND seq < ?${copies} ORDER BY seq DESC LIMIT ?`,
    [sessionId, page.before ?? Number.MAX_SAFE_INTEGER, page.limit ?? -1],
  );
  return rows.map(toMessage).reverse();
}

export interface CopiedRows {
  readonly from: string;
  /** Up to this number of `from`; null: all. */
  readonly through: number | null;
  /** Behind the rows that it has. */
  readonly to: string;
  readonly now: number;
}

/** Copies rows for what they show. `withoutCopies`: those that are copies themselves stand for rows shown further up. */
export function copyAsShown(
  writer: WriteTransaction,
  rows: CopiedRows & { readonly withoutCopies: boolean },
): void {
  copyRows(writer, rows, rows.withoutCopies ? 'm.copy_of IS NULL' : '1', 'm.id', []);
}

/** Copies what a model is given of a row of a chat: each as a copy of what is shown for it in `shownIn`. */
export function copyAsSent(writer: WriteTransaction, rows: CopiedRows & { readonly shownIn: string }): void {
  const original = `coalesce((SELECT o.id FROM messages o WHERE o.session_id = ? AND o.copy_of = coalesce(m.copy_of, m.id)), m.id)`;
  copyRows(writer, rows, '1', original, [rows.shownIn]);
}

/**
 * In one statement, so that the journal holds no text twice and a blob is named again in the transaction that reads its name.
 * Nobody streams the copies. The ids are made of that of the new row and the numbers there.
 */
function copyRows(
  writer: WriteTransaction,
  { from, through, to, now }: CopiedRows,
  condition: string,
  copyOf: string,
  copyOfParameters: readonly Value[],
): void {
  const row = writer.get('SELECT coalesce(max(seq), 0) AS last FROM messages WHERE session_id = ?', [to]);
  const last = v.parse(v.number(), row?.['last']);
  const number = '(? + row_number() OVER (ORDER BY m.seq))';
  writer.run(
    `INSERT INTO messages(id, session_id, seq, role, status, content, blob, reasoning, tool_calls, tool_call_id, tool_name, problem, active, copy_of, created_at, finished_at, model_id, usage) SELECT ? || ':' || ${number}, ?, ${number}, m.role, CASE m.status WHEN 'streaming' THEN 'interrupted' ELSE m.status END, m.content, m.blob, m.reasoning, m.tool_calls, m.tool_call_id, m.tool_name, m.problem, m.active, ${copyOf}, m.created_at, CASE m.status WHEN 'streaming' THEN ? ELSE m.finished_at END, m.model_id, m.usage FROM messages m WHERE m.session_id = ? AND m.seq <= ? AND ${condition}`,
    [to, last, to, last, ...copyOfParameters, now, from, through ?? Number.MAX_SAFE_INTEGER],
  );
}

/** Takes up again the newest `count` rows of the session, which a retry had replaced. */
export function activateNewest(writer: WriteTransaction, sessionId: string, count: number): void {
  if (count === 0) return;
  writer.run(
    'UPDATE messages SET active = 1 WHERE session_id = ? AND seq > (SELECT max(seq) FROM messages WHERE session_id = ?) - ?',
    [sessionId, sessionId, count],
  );
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
  return rows.map(toMessage);
}
