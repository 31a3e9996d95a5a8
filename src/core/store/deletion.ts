/**
 * **Delete Permanently**: the one thing that removes a chat. It leaves a tombstone, an id without a word of the chat, which
 * keeps a window that still shows the chat from writing it anew, and tells which journals and snapshots must go.
 */
import { SessionNotOwnedError } from './errors.ts';
import { passOnBranches } from './heirs.ts';
import { getLease } from './leases.ts';
import { lineageMembers, membersOfRoot, rootOf } from './lineage.ts';
import { getMeta, listMeta } from './meta.ts';
import type { ReadTransaction, RowReader, WriteTransaction } from './transaction.ts';

export interface Deletion {
  /** Any row of the chat. */
  readonly sessionId: string;
  /** Whether a window other than the one that asks is there; one of which it is not known counts as alive. */
  readonly isOtherAlive: (windowId: string) => boolean;
}

const tombstonePrefix = 'deleted:';

/** A tombstone for each row of the chat. */
const bury = `INSERT OR REPLACE INTO meta(key, value) SELECT '${tombstonePrefix}' || id, ? FROM (${membersOfRoot})`;

/** The ids of the rows whose tombstones are of this change: that is in one frame, however often the chat was compacted. */
const buried = `SELECT substr(key, ${tombstonePrefix.length + 1}) FROM meta WHERE key GLOB '${tombstonePrefix}*' AND value = ?`;

/** What goes with the rows of the chat, and what of others must not point to them any more. */
const removals: readonly string[] = [
  `UPDATE messages SET copy_of = NULL WHERE copy_of IN (SELECT id FROM messages WHERE session_id IN (${buried}))`,
  `UPDATE sessions SET parent_id = NULL, edge = NULL, branched_after = NULL WHERE parent_id IN (${buried})`,
  `DELETE FROM messages WHERE session_id IN (${buried})`,
  `DELETE FROM drafts WHERE session_id IN (${buried})`,
  `DELETE FROM drafts WHERE key IN (${buried})`,
  `DELETE FROM memories WHERE source_session_id IN (${buried})`,
  `DELETE FROM routes WHERE session_id IN (${buried})`,
  `DELETE FROM leases WHERE session_id IN (${buried})`,
  `DELETE FROM sessions WHERE id IN (${buried})`,
];

/** Throws SessionNotOwnedError if another live window may write the chat. */
export function refuseForeignLease(reader: ReadTransaction, deletion: Deletion): void {
  for (const member of lineageMembers(reader, deletion.sessionId)) {
    const held = getLease(reader, member);
    if (held?.isHeld === true && deletion.isOtherAlive(held.windowId)) throw new SessionNotOwnedError(member);
  }
}

/**
 * Removes every row of the chat with its messages, drafts, memories, places and leases. Branches stay, and stay related
 * (heirs.ts); chats that followed a reset stay; so do fences, which name places. Does nothing if there is no such chat. Throws
 * SessionNotOwnedError (see refuseForeignLease).
 */
export function deleteLineage(writer: WriteTransaction, deletion: Deletion): void {
  refuseForeignLease(writer, deletion);
  const root = rootOf(writer, deletion.sessionId);
  if (lineageMembers(writer, root).length === 0) return;
  passOnBranches(writer, root);
  const change = String(writer.seq);
  writer.run(bury, [change, root]);
  for (const sql of removals) writer.run(sql, [change]);
}

/** Whether the row was deleted and has not been brought back since. */
export function isDeleted(reader: RowReader, sessionId: string): boolean {
  if (getMeta(reader, `${tombstonePrefix}${sessionId}`) === null) return false;
  return reader.get('SELECT id FROM sessions WHERE id = ?', [sessionId]) === undefined;
}

/** The journal number of the last deletion; 0: there was none. */
export function lastDeletionSeq(reader: ReadTransaction): number {
  const seqs = listMeta(reader, tombstonePrefix).map(({ value }) => Number(value));
  return Math.max(0, ...seqs);
}
