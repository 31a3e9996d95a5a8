/** The durable rows of chats. The chat list is a query over them and the messages, so the two cannot disagree. */
import * as v from 'valibot';
import {
  endReasonSchema,
  messageStatusSchema,
  sessionSchema,
  type EndReason,
  type MessageStatus,
  type Session,
} from '../session/model.ts';
import { isEndedByUser, isRecoverable, mayEnd } from '../session/reasons.ts';
import { ChatUnreadableError, UnknownSessionError } from './errors.ts';
import { lineageOfTip } from './lineage.ts';
import type {
  NumberedWriter,
  ReadTransaction,
  Row,
  RowReader,
  Value,
  WriteTransaction,
} from './transaction.ts';

const columns =
  `s.id, s.source, s.title, s.title_source, s.workspace_uri, s.workspace_name, s.model_id, s.parent_id, s.edge,
  s.branched_after, s.created_at, s.last_activity_at, s.last_activity_seq, s.ended_at, s.end_reason, s.pinned, s.message_count, s.preview,
  s.input_tokens, s.output_tokens`.replace(/\s+/g, ' ');

/** A row of the chat list. */
export interface ChatRow {
  readonly session: Session;
  /** There is typed text that was not sent. */
  readonly hasDraft: boolean;
  /** Of its last answer: `streaming` while some window writes it, `interrupted` after a Stop or a crash; null: no answer yet. */
  readonly lastStatus: MessageStatus | null;
}

/** Where a page of a list ends; give it to get the next one. */
interface ListCursor {
  readonly lastActivityAt: Value;
  readonly id: string;
}

export interface ListFilter {
  /** True: ended by the user; false: every other chat, ended ones of cleanup included; absent or null: both. */
  readonly archived?: boolean | null;
  /** Absent or null: of every workspace. */
  readonly workspaceUri?: string | null;
  readonly limit: number;
  readonly before?: ListCursor | null;
}

export type OnUnreadable = (error: ChatUnreadableError) => void;

/** What updateSession may change. */
export type SessionChanges = Partial<
  Pick<
    Session,
    | 'title'
    | 'titleSource'
    | 'workspaceUri'
    | 'workspaceName'
    | 'modelId'
    | 'pinned'
    | 'inputTokens'
    | 'outputTokens'
  >
>;

const changeColumns: Readonly<Record<keyof SessionChanges, string>> = {
  title: 'title',
  titleSource: 'title_source',
  workspaceUri: 'workspace_uri',
  workspaceName: 'workspace_name',
  modelId: 'model_id',
  pinned: 'pinned',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
};

/** Throws ChatUnreadableError. */
function toSession(row: Row): Session {
  const parsed = v.safeParse(sessionSchema, {
    id: row['id'],
    source: row['source'],
    title: row['title'],
    titleSource: row['title_source'],
    workspaceUri: row['workspace_uri'],
    workspaceName: row['workspace_name'],
    modelId: row['model_id'],
    parentId: row['parent_id'],
    edge: row['edge'],
    branchedAfter: row['branched_after'],
    createdAt: row['created_at'],
    lastActivityAt: row['last_activity_at'],
    lastActivitySeq: row['last_activity_seq'],
    endedAt: row['ended_at'],
    endReason: row['end_reason'],
    pinned: row['pinned'] === 1,
    messageCount: row['message_count'],
    preview: row['preview'],
    inputTokens: row['input_tokens'],
    outputTokens: row['output_tokens'],
  });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new ChatUnreadableError(String(row['id']), `${v.getDotPath(issue) ?? 'row'}: ${issue.message}`);
}

function toColumn(value: string | number | boolean | null): Value {
  return typeof value === 'boolean' ? Number(value) : value;
}

/**
 * Adds the row; its activity is this transaction. Does nothing if the id is there already, so a repeated first write is
 * harmless. Count and preview start empty: they follow the messages. A panel's route may have been there first: that it
 * shows the row is remembered.
 */
export function insertSession(writer: NumberedWriter, session: Session): void {
  writer.run(
    `INSERT OR IGNORE INTO sessions(id, source, title, title_source, workspace_uri, workspace_name, model_id, parent_id, edge, branched_after, created_at, last_activity_at, last_activity_seq, ended_at, end_reason, pinned, message_count, preview, input_tokens, output_tokens, shown_by_panel) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', ?, ?, ?)`,
    [
      session.id,
      session.source,
      session.title,
      session.titleSource,
      session.workspaceUri,
      session.workspaceName,
      session.modelId,
      session.parentId,
      session.edge,
      session.branchedAfter,
      session.createdAt,
      session.lastActivityAt,
      writer.seq,
      session.endedAt,
      session.endReason,
      Number(session.pinned),
      session.inputTokens,
      session.outputTokens,
      Number(isNamedByPanel(writer, session.id)),
    ],
  );
}

/** Adds the row in which a chat goes on after a compaction; it inherits what the chat is to the user. */
export function continueSession(
  writer: WriteTransaction,
  parentId: string,
  child: { readonly id: string; readonly now: number },
): void {
  const parent = requireSession(writer, parentId);
  const { id, now } = child;
  insertSession(writer, {
    ...parent,
    id,
    parentId,
    edge: 'compaction',
    branchedAfter: null,
    createdAt: now,
    lastActivityAt: Math.max(now, parent.lastActivityAt),
    endedAt: null,
    endReason: null,
    inputTokens: 0,
    outputTokens: 0,
  });
  writer.run('UPDATE sessions SET preview = ? WHERE id = ?', [parent.preview, id]);
}

/** Rows were copied into it: what a list tells of it. `isBranch`: it begins with them, and parts from its parent after them. */
export function setCopied(
  writer: WriteTransaction,
  id: string,
  { isBranch, preview }: { readonly isBranch: boolean; readonly preview: string },
): void {
  const count = `(SELECT count(*) FROM messages WHERE session_id = sessions.id)`;
  writer.run(
    `UPDATE sessions SET message_count = ${count}, branched_after = CASE WHEN ? THEN ${count} END, preview = CASE WHEN ${count} > 0 THEN ? ELSE '' END WHERE id = ?`,
    [Number(isBranch), preview, id],
  );
}

function isNamedByPanel(reader: RowReader, id: string): boolean {
  const route = reader.get(`SELECT key FROM routes WHERE session_id = ? AND key LIKE 'panel:%'`, [id]);
  return route !== undefined;
}

/** Null: there is none. Throws ChatUnreadableError. */
export function getSession(reader: ReadTransaction, id: string): Session | null {
  const row = reader.get(`SELECT ${columns} FROM sessions s WHERE s.id = ?`, [id]);
  return row === undefined ? null : toSession(row);
}

/** Throws UnknownSessionError and ChatUnreadableError. */
export function requireSession(reader: ReadTransaction, id: string): Session {
  const session = getSession(reader, id);
  if (session === null) throw new UnknownSessionError(id);
  return session;
}

/**
 * Latest activity first, one entry per chat: the tip of its lineage, whose counts and preview are those of the whole. Chats
 * with no message and no typed text are left out; the messages themselves are looked at, never a counter. One that cannot be
 * read is told to `onUnreadable` and does not hide the others.
 */
export function listChats(
  reader: ReadTransaction,
  filter: ListFilter,
  onUnreadable: OnUnreadable = () => undefined,
): ChatRow[] {
  const chats: ChatRow[] = [];
  let before = filter.before ?? null;
  for (;;) {
    const candidates = readCandidates(reader, { ...filter, before });
    for (const row of candidates) {
      const chat = tryToRead(() => toChat(reader, row), onUnreadable);
      if (chat !== null) chats.push(chat);
      if (chats.length === filter.limit) return chats;
    }
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < filter.limit) return chats;
    before = { lastActivityAt: last['last_activity_at'] ?? null, id: String(last['id']) };
  }
}

/** Spelled out as in the index of archived chats: SQLite takes the index only for the same words. */
const isArchived = `s.end_reason IN (${endReasonSchema.options
  .filter(isEndedByUser)
  .map((reason) => `'${reason}'`)
  .join(', ')})`;

/** Rows that no compaction has continued: nearly always the tips. */
function readCandidates(reader: ReadTransaction, filter: ListFilter): Row[] {
  const hasMessages = 'EXISTS(SELECT 1 FROM messages m WHERE m.session_id = s.id)';
  const hasDraft = `EXISTS(SELECT 1 FROM drafts d WHERE d.session_id = s.id AND (d.text <> '' OR d.blob IS NOT NULL))`;
  const lastStatus = `(SELECT m.status FROM messages m WHERE m.session_id = s.id AND m.role = 'assistant' ORDER BY m.seq DESC LIMIT 1)`;
  const conditions = [
    `NOT EXISTS(SELECT 1 FROM sessions c WHERE c.parent_id = s.id AND c.edge = 'compaction')`,
    `(${hasMessages} OR s.message_count > 0 OR s.edge IS 'compaction' OR ${hasDraft})`,
  ];
  const parameters: Value[] = [];
  if (filter.archived === true) conditions.push(isArchived);
  if (filter.archived === false) conditions.push(`(s.end_reason IS NULL OR NOT ${isArchived})`);
  if (filter.workspaceUri !== undefined && filter.workspaceUri !== null) {
    conditions.push('s.workspace_uri = ?');
    parameters.push(filter.workspaceUri);
  }
  if (filter.before !== undefined && filter.before !== null) {
    conditions.push('(s.last_activity_at, s.id) < (?, ?)');
    parameters.push(filter.before.lastActivityAt, filter.before.id);
  }
  return reader.all(
    `SELECT ${columns}, ${hasMessages} AS has_messages, ${hasDraft} AS has_draft, ${lastStatus} AS last_status FROM sessions s WHERE ${conditions.join(' AND ')} ORDER BY s.last_activity_at DESC, s.id DESC LIMIT ?`,
    [...parameters, filter.limit],
  );
}

/** Null for a row that is not the tip of its lineage. Throws ChatUnreadableError. */
function toChat(reader: ReadTransaction, row: Row): ChatRow | null {
  const tip = toSession(row);
  if (tip.messageCount > 0 && row['has_messages'] !== 1) {
    throw new ChatUnreadableError(tip.id, 'its messages are missing');
  }
  const session = asWholeChat(reader, tip);
  if (session === null) return null;
  return {
    session,
    hasDraft: row['has_draft'] === 1,
    lastStatus: v.parse(v.nullable(messageStatusSchema), row['last_status']),
  };
}

/** Null: it cannot be read, and `onUnreadable` was told. */
function tryToRead<T>(read: () => T, onUnreadable: OnUnreadable): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ChatUnreadableError)) throw error;
    onUnreadable(error);
    return null;
  }
}

const sumsSchema = v.object({
  messages: v.number(),
  preview: v.nullable(v.string()),
  input: v.number(),
  output: v.number(),
});

/**
 * The tip with what its lineage sums up to; null for a row that is not the tip of its lineage. The summaries and copies that
 * compaction wrote are no messages of the user's chat.
 */
function asWholeChat(reader: ReadTransaction, tip: Session): Session | null {
  if (tip.edge !== 'compaction') return tip;
  const path = lineageOfTip(reader, tip.id);
  if (path === null) return null;
  const root = path[0] ?? tip.id;
  const rows = `(${path.map(() => '?').join(', ')})`;
  const sums = reader.get(
    `SELECT (SELECT count(*) FROM messages WHERE session_id IN ${rows} AND (session_id = ? OR (copy_of IS NULL AND role <> 'summary'))) AS messages, (SELECT preview FROM sessions WHERE id = ?) AS preview, sum(input_tokens) AS input, sum(output_tokens) AS output FROM sessions WHERE id IN ${rows}`,
    [...path, root, root, ...path],
  );
  const { messages, preview, input, output } = v.parse(sumsSchema, sums);
  return {
    ...tip,
    messageCount: messages,
    preview: preview === null || preview === '' ? tip.preview : preview,
    inputTokens: input,
    outputTokens: output,
  };
}

export function listSessions(
  reader: ReadTransaction,
  filter: ListFilter,
  onUnreadable?: OnUnreadable,
): Session[] {
  return listChats(reader, filter, onUnreadable).map(({ session }) => session);
}

/** The chat with the latest activity that is not archived; `workspaceUri` null: of any workspace. */
export function latestChat(reader: ReadTransaction, workspaceUri: string | null): Session | null {
  return listSessions(reader, { archived: false, workspaceUri, limit: 1 })[0] ?? null;
}

export interface PlaceFilter {
  /** Null: made without a workspace. */
  readonly workspaceUri: string | null;
  /** Only rows that were active in this transaction of the journal or later. */
  readonly sinceSeq: number;
}

/**
 * The row with which a workspace's chat can go on: among those made there that are open or were ended by cleanup, those with
 * messages first, then by latest activity. Null: there is none.
 */
export function latestRecoverable(reader: ReadTransaction, filter: PlaceFilter): Session | null {
  const reasons = endReasonSchema.options.filter(isRecoverable);
  const row = reader.get(
    `SELECT ${columns} FROM sessions s WHERE s.workspace_uri IS ? AND s.last_activity_seq >= ? AND (s.end_reason IS NULL OR s.end_reason IN (${reasons.map(() => '?').join(', ')})) AND NOT EXISTS(SELECT 1 FROM sessions c WHERE c.parent_id = s.id AND c.edge = 'compaction') ORDER BY EXISTS(SELECT 1 FROM messages m WHERE m.session_id = s.id) DESC, s.last_activity_at DESC, s.id DESC LIMIT 1`,
    [filter.workspaceUri, filter.sinceSeq, ...reasons],
  );
  return row === undefined ? null : toSession(row);
}

/** Throws UnknownSessionError. */
export function updateSession(writer: WriteTransaction, id: string, changes: SessionChanges): void {
  requireSession(writer, id);
  const assignments: string[] = [];
  const parameters: Value[] = [];
  for (const [key, column] of Object.entries(changeColumns)) {
    const value = Object.entries(changes).find(([name]) => name === key)?.[1];
    if (value === undefined) continue;
    assignments.push(`${column} = ?`);
    parameters.push(toColumn(value));
  }
  if (assignments.length === 0) return;
  writer.run(`UPDATE sessions SET ${assignments.join(', ')} WHERE id = ?`, [...parameters, id]);
}

/** The user's own title; an automatic one never overrides it. */
export function renameSession(writer: WriteTransaction, id: string, title: string): void {
  updateSession(writer, id, { title, titleSource: 'user' });
}

/** A derived title. False: the user chose one, it stays. */
export function setAutomaticTitle(writer: WriteTransaction, id: string, title: string): boolean {
  if (requireSession(writer, id).titleSource === 'user') return false;
  updateSession(writer, id, { title, titleSource: 'auto' });
  return true;
}

export function setSessionModel(writer: WriteTransaction, id: string, modelId: string | null): void {
  updateSession(writer, id, { modelId });
}

/** Something happened in the chat. The time never goes back, whatever the clock does. */
export function touchSession(writer: WriteTransaction, id: string, now: number): void {
  writer.run(
    'UPDATE sessions SET last_activity_at = max(last_activity_at, ?), last_activity_seq = ? WHERE id = ?',
    [now, writer.seq, id],
  );
}

/**
 * Ends the row if it may (see `mayEnd`): the first reason stays. Returns whether the row now has this reason because of this
 * call. Throws UnknownSessionError.
 */
export function endSession(writer: WriteTransaction, id: string, reason: EndReason, now: number): boolean {
  if (!mayEnd(requireSession(writer, id), reason)) return false;
  writer.run('UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?', [now, reason, id]);
  return true;
}

/** Clears both end fields and nothing else. Throws UnknownSessionError. */
export function reopenSession(writer: WriteTransaction, id: string): void {
  if (requireSession(writer, id).endReason === null) return;
  writer.run('UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?', [id]);
}

export function countSessions(reader: ReadTransaction): number {
  return v.parse(v.number(), reader.get('SELECT count(*) AS n FROM sessions')?.['n']);
}
