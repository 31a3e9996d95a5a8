/**
 * Compaction: the chat goes on in a new row that begins with a summary of everything before and a copy of its newest turns.
 * The old row stays as it is, closed. All of it is one transaction: whoever reads sees the live parent or the complete child,
 * and if anything fails the parent is still open and usable.
 */
import { recentTurns } from '../agent/contextSize.ts';
import { Digest } from '../agent/digest.ts';
import { makeMessage, type Message, type Session } from '../session/model.ts';
import { isArchived } from '../session/reasons.ts';
import { moveDrafts } from '../store/drafts.ts';
import { moveLease, type Lease } from '../store/leases.ts';
import { lineageMembers } from '../store/lineage.ts';
import { copyMessage, insertMessage, streamingMessages, withContents } from '../store/messages.ts';
import { listRoutes, repointRoute, setShownByPanel, wasShownByPanel } from '../store/routes.ts';
import { continueSession, endSession, reopenSession, requireSession } from '../store/sessions.ts';
import { modelMessages, saidRows } from '../store/transcript.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction, WriteTransaction } from '../store/transaction.ts';
import { digestRows } from './digestRows.ts';
import { RefusedError } from './problems.ts';

/** Tokens of the newest turns that stay word for word. */
const defaultKeptTokens = 4000;

export interface Compaction {
  readonly sessionId: string;
  /** Of the runtime that writes the session. */
  readonly lease: Lease;
  /** Id of the row in which the chat goes on. */
  readonly childId: string;
  readonly newId: () => string;
  readonly now: number;
  readonly keptTokens?: number;
  /** Made before (see prepareSummary); without it, or if the chat is another by now, it is made in the transaction. */
  readonly prepared?: PreparedSummary;
}

export interface PreparedSummary {
  /** What it was made of, so that a change of that is noticed. */
  readonly rows: string;
  readonly text: string;
}

export interface Compacted {
  readonly session: Session;
  /** The rows of the child: the summary, then the copies. */
  readonly messages: Message[];
  /** Moved to the child. */
  readonly lease: Lease;
}

/**
 * Compacts the session. Throws a RefusedError when it is archived, when an answer streams and when there is too little to
 * summarise, and SessionNotOwnedError; nothing is changed then.
 */
export function compactSession(writer: WriteTransaction, compaction: Compaction): Compacted {
  const { sessionId, childId, now } = compaction;
  const parent = requireSession(writer, sessionId);
  const rows = modelMessages(writer, sessionId, 'leave');
  const kept = keptRows(writer, rows, compaction.keptTokens ?? defaultKeptTokens);
  refuseUnlessCompactable(writer, parent, rows);
  const lease = moveLease(writer, compaction.lease, childId, now);
  const { summary, copies } = rowsOfChild(writer, compaction, parent, kept);

  if (parent.endReason !== null) reopenSession(writer, sessionId); // cleanup's reason: the chat goes on
  endSession(writer, sessionId, 'compaction', now);
  continueSession(writer, sessionId, { id: childId, now });
  if (wasShownByPanel(writer, sessionId)) setShownByPanel(writer, childId);
  insertMessage(writer, summary);
  for (const { originalId, ...copy } of copies) copyMessage(writer, originalId, copy);
  moveDrafts(writer, sessionId, childId);
  const members = lineageMembers(writer, sessionId);
  for (const route of listRoutes(writer).filter((candidate) => members.includes(candidate.sessionId))) {
    repointRoute(writer, route.key, route.sessionId, childId, now);
  }
  return { session: requireSession(writer, childId), messages: modelMessages(writer, childId), lease };
}

/**
 * Makes the summary for a compaction while others run: that of a long chat takes long. Rejects with UnknownSessionError and
 * StoreErrors.
 */
export async function prepareSummary(
  store: Pick<Store, 'read'>,
  sessionId: string,
  keptTokens = defaultKeptTokens,
): Promise<PreparedSummary> {
  const rows = store.read((reader) => {
    const kept = keptRows(reader, modelMessages(reader, sessionId, 'leave'), keptTokens);
    return summarisedRows(reader, requireSession(reader, sessionId), kept);
  });
  return { rows: describe(rows), text: await digestRows(store, rows) };
}

function keptRows(reader: ReadTransaction, rows: readonly Message[], keptTokens: number): readonly Message[] {
  return recentTurns(rows, keptTokens, (row) => withContents(reader, row));
}

/** What is shown for a row: in a parent that continues another row itself, the original of a copy. */
function shownAs(parent: Session, { id, copyOf }: Message): string {
  return parent.edge === 'compaction' ? (copyOf ?? id) : id;
}

/** All that was said but for what stays word for word. */
function summarisedRows(reader: ReadTransaction, parent: Session, kept: readonly Message[]): Message[] {
  const keptIds = new Set(kept.map((row) => shownAs(parent, row)));
  return saidRows(reader, parent.id).filter(({ id }) => !keptIds.has(id));
}

function describe(rows: readonly Message[]): string {
  return JSON.stringify(rows.map(({ id, status, active }) => [id, status, active]));
}

/** The summary is made from the chat as it was said, not from the last summary, which would wear down each time. */
function rowsOfChild(
  reader: ReadTransaction,
  compaction: Compaction,
  parent: Session,
  kept: readonly Message[],
): { summary: Message; copies: (Pick<Message, 'id' | 'sessionId' | 'copyOf'> & { originalId: string })[] } {
  const { childId, newId, now } = compaction;
  const rows = summarisedRows(reader, parent, kept);
  const isPrepared = compaction.prepared?.rows === describe(rows);
  const summary = makeMessage({
    id: newId(),
    sessionId: childId,
    seq: 1,
    role: 'summary',
    text: isPrepared ? compaction.prepared.text : digestNow(reader, rows),
    createdAt: now,
    finishedAt: now,
  });
  const copies = kept.map((original) => ({
    originalId: original.id,
    id: newId(),
    sessionId: childId,
    copyOf: shownAs(parent, original),
  }));
  return { summary, copies };
}

function digestNow(reader: ReadTransaction, rows: readonly Message[]): string {
  const digest = new Digest();
  for (const row of rows) digest.add(withContents(reader, row));
  return digest.text;
}

function refuseUnlessCompactable(reader: ReadTransaction, session: Session, rows: readonly Message[]): void {
  if (isArchived(session)) {
    throw new RefusedError('archived', 'This chat is archived: reopen it to go on.');
  }
  if (session.endReason === 'compaction') {
    throw new RefusedError('nothing_to_do', 'This chat was compacted already.');
  }
  if (streamingMessages(reader).some((message) => message.sessionId === session.id)) {
    throw new RefusedError('running', 'An answer is still running: stop it first, or wait until it is done.');
  }
  // The first turn is never kept word for word, so there is something to summarise wherever there is a turn.
  if (rows.every(({ role }) => role === 'summary')) {
    throw new RefusedError('nothing_to_do', 'There is too little in this chat to summarise yet.');
  }
}
