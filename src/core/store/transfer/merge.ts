/**
 * Brings chats of a backup, of another folder or of a rescue file into a store: merged by id, so that doing it twice changes
 * nothing the second time and a stopped one is finished by doing it again. What is there is never overwritten; only an answer
 * that was cut off gets the rest that it has there, and a message that cannot be read its contents.
 */
import type { Message, Session } from '../../session/model.ts';
import { StoreError } from '../errors.ts';
import { isDeleted } from '../deletion.ts';
import { getDraft, saveDraft } from '../drafts.ts';
import { getLease } from '../leases.ts';
import { getMemory, saveMemory } from '../memories.ts';
import { finishMessage, getMessage, insertMessage, setMessageContents } from '../messages.ts';
import { setShownByPanel, type IsWindowAlive } from '../routes.ts';
import { getSession, insertSession, requireSession } from '../sessions.ts';
import type { Store } from '../store.ts';
import type { ReadTransaction, WriteTransaction } from '../transaction.ts';
import type { ChatRecord } from './records.ts';

export interface MergeReport {
  /** Rows of chats that were brought in. */
  readonly chats: number;
  /** Of these, rows that had been deleted permanently here: whoever brings them in wants them back, and is told. */
  readonly deletedBefore: number;
  /** Rows of chats that were there already; messages they lacked were added. */
  readonly knownChats: number;
  /** Messages that were added, or of which the rest was. */
  readonly messages: number;
  readonly knownMessages: number;
  readonly drafts: number;
}

export interface MergeOptions {
  /** Of what was typed and not sent: true: the newer of two drafts stays; else the one that is here. */
  readonly newerDrafts?: boolean;
}

/** What was brought in does not read back. */
class MergeError extends StoreError {
  constructor(what: string) {
    super(
      'write_failed',
      `${what} was brought in and does not read back as it was. Run Verify Store before you go on.`,
    );
  }
}

/** Texts of about this size (UTF-16 units) go into one transaction. */
const batchSize = 128 * 1024;

/** Records to write together; a large message is a batch by itself. */
function* batches(records: Iterable<ChatRecord>): Generator<ChatRecord[]> {
  let batch: ChatRecord[] = [];
  let size = 0;
  for (const record of records) {
    const length = sizeOf(record);
    if (batch.length > 0 && size + length > batchSize) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(record);
    size += length;
  }
  if (batch.length > 0) yield batch;
}

function sizeOf(record: ChatRecord): number {
  if (record.type !== 'message') return 1000;
  const { text, reasoning, toolCalls } = record.message;
  return toolCalls.reduce((sum, call) => sum + call.arguments.length, 500 + text.length + reasoning.length);
}

/**
 * Merges what `read` gives; it is called again to compare what was written. Resolves when all of it is on disk and was read
 * back. Rejects with StoreErrors; what was brought in before stays, and a repeat goes on from there.
 */
export async function mergeRecords(
  store: Store,
  read: () => Iterable<ChatRecord>,
  options: MergeOptions = {},
): Promise<MergeReport> {
  const report = { chats: 0, deletedBefore: 0, knownChats: 0, messages: 0, knownMessages: 0, drafts: 0 };
  const brought = new Set<string>();
  const isWindowAlive: IsWindowAlive = (windowId) => store.isWindowAlive(windowId);
  for (const batch of batches(read())) {
    const added = await store.write((writer) =>
      batch.map((record) => ({
        record,
        wasDeleted: record.type === 'chat' && isDeleted(writer, record.session.id),
        isNew: add(writer, record, options, isWindowAlive),
      })),
    );
    for (const { record, wasDeleted, isNew } of added) {
      if (wasDeleted) report.deletedBefore += 1;
      if (record.type === 'draft' && isNew) report.drafts += 1;
      if (record.type === 'chat') report[isNew ? 'chats' : 'knownChats'] += 1;
      if (record.type !== 'message') continue;
      report[isNew ? 'messages' : 'knownMessages'] += 1;
      if (isNew) brought.add(record.message.id);
    }
  }
  for (const record of read()) store.read((reader) => check(reader, record, brought));
  return report;
}

/** Whether something was added. */
function add(
  writer: WriteTransaction,
  record: ChatRecord,
  { newerDrafts = false }: MergeOptions,
  isWindowAlive: IsWindowAlive,
): boolean {
  switch (record.type) {
    case 'chat':
      return addChat(writer, record);
    case 'message':
      return addMessage(writer, record.message, isWindowAlive);
    case 'draft': {
      const known = getDraft(writer, record.key)?.draft ?? null;
      if (known !== null && !(newerDrafts && known.editedAt < record.draft.editedAt)) return false;
      saveDraft(writer, record);
      return true;
    }
    case 'memory':
      if (getMemory(writer, record.memory.id) !== null) return false;
      saveMemory(writer, record.memory);
      return true;
  }
}

function addChat(writer: WriteTransaction, record: Extract<ChatRecord, { type: 'chat' }>): boolean {
  const { session } = record;
  if (getSession(writer, session.id) !== null) return false;
  insertSession(writer, { ...session, edge: edgeOf(writer, session) });
  if (record.wasShownByPanel) setShownByPanel(writer, session.id);
  setActivitySeq(writer, session.id, 0);
  return true;
}

/**
 * A chat that is there and went on differently is not continued behind its user's back: what continued it elsewhere becomes
 * a branch, which is a chat of its own.
 */
function edgeOf(reader: ReadTransaction, session: Session): Session['edge'] {
  const { edge, parentId } = session;
  if (edge !== 'compaction' || parentId === null) return edge;
  const parent = getSession(reader, parentId);
  if (parent === null) return edge;
  const isContinued = reader.get(`SELECT id FROM sessions WHERE parent_id = ? AND edge = 'compaction'`, [
    parentId,
  ]);
  return parent.endReason === 'compaction' && isContinued === undefined ? edge : 'branch';
}

function addMessage(writer: WriteTransaction, message: Message, isWindowAlive: IsWindowAlive): boolean {
  const { sessionId, seq } = message;
  const id = idHere(writer, message);
  const known = getMessage(writer, id);
  if (known !== null) return complete(writer, known, message, isWindowAlive);
  const session = getSession(writer, sessionId);
  // Its chat could not be read where it came from.
  if (session === null) return false;
  // Nobody here is writing it.
  const status = message.status === 'streaming' ? 'interrupted' : message.status;
  const place = insertMessage(writer, { ...message, id, status });
  // A gap that a loss had left is filled where it was.
  const isFree =
    writer.get('SELECT id FROM messages WHERE session_id = ? AND seq = ?', [sessionId, seq]) === undefined;
  if (place !== seq && isFree) writer.run('UPDATE messages SET seq = ? WHERE id = ?', [seq, id]);
  // Numbers of another journal say nothing here, and being brought in is no activity.
  setActivitySeq(writer, sessionId, session.lastActivitySeq);
  return true;
}

/** Gives an answer that was cut off here the rest that it has there, and a message whose file is lost here what it says there. */
function complete(
  writer: WriteTransaction,
  known: Message,
  there: Message,
  isWindowAlive: IsWindowAlive,
): boolean {
  if (known.sessionId !== there.sessionId) return false;
  if (known.contents === 'unreadable') {
    setMessageContents(writer, known.id, there);
    return true;
  }
  if (!isCutOff(writer, known, isWindowAlive)) return false;
  if (!there.text.startsWith(known.text) || !there.reasoning.startsWith(known.reasoning)) return false;
  const status = there.status === 'streaming' ? 'interrupted' : there.status;
  const isLonger =
    there.text.length > known.text.length ||
    there.reasoning.length > known.reasoning.length ||
    there.toolCalls.length > known.toolCalls.length;
  if (!isLonger && (status === 'interrupted' || there.toolCalls.length < known.toolCalls.length))
    return false;
  const { lastActivitySeq } = requireSession(writer, known.sessionId);
  setMessageContents(writer, known.id, there);
  finishMessage(writer, known.id, { ...there, status, finishedAt: there.finishedAt ?? known.finishedAt });
  setActivitySeq(writer, known.sessionId, lastActivitySeq);
  return true;
}

/** Its writer stopped, or died and nobody has marked it yet. */
function isCutOff(reader: ReadTransaction, message: Message, isWindowAlive: IsWindowAlive): boolean {
  if (message.status !== 'streaming') return message.status === 'interrupted';
  const lease = getLease(reader, message.sessionId);
  return lease?.isHeld !== true || !isWindowAlive(lease.windowId);
}

/** Its id, or another, always the same, if a message of another chat has it: `holdfast append` takes any id. */
function idHere(reader: ReadTransaction, { id, sessionId }: Message): string {
  const row = reader.get('SELECT session_id FROM messages WHERE id = ?', [id]);
  return row === undefined || row['session_id'] === sessionId ? id : `${sessionId}:${id}`;
}

function setActivitySeq(writer: WriteTransaction, sessionId: string, seq: number): void {
  writer.run('UPDATE sessions SET last_activity_seq = ? WHERE id = ?', [seq, sessionId]);
}

/** Throws MergeError. */
function check(reader: ReadTransaction, record: ChatRecord, brought: ReadonlySet<string>): void {
  if (record.type === 'chat' && getSession(reader, record.session.id) === null) {
    throw new MergeError(`The chat ${record.session.id}`);
  }
  if (record.type !== 'message') return;
  const { id, sessionId, text, reasoning } = record.message;
  const stored = getMessage(reader, idHere(reader, record.message));
  if (stored === null) {
    if (brought.has(id) || getSession(reader, sessionId) !== null) throw new MergeError(`The message ${id}`);
    return;
  }
  if (brought.has(id) && (stored.text !== text || stored.reasoning !== reasoning)) {
    throw new MergeError(`The message ${id}`);
  }
}
