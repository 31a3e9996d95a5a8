/** What the user does to a chat as a whole: it reaches every row of its lineage, and never a branch. */
import type { EndReason } from '../session/model.ts';
import { revokeLease, type Lease } from './leases.ts';
import { lineageMembers, tipOf } from './lineage.ts';
import { interruptStreaming } from './messages.ts';
import { endSession, renameSession, reopenSession, updateSession } from './sessions.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * Archives the chat. Rows closed by compaction keep their reason. Whoever writes the chat, except the holder of `keep`, is
 * refused from its next write on: what it has written so far stays, as interrupted. Returns whether the chat was not archived
 * before.
 */
export function archiveLineage(
  writer: WriteTransaction,
  id: string,
  now: number,
  keep: Lease | null = null,
): boolean {
  return endLineage(writer, id, 'archived', now, keep);
}

/** Ends every row that may end for this reason (see `mayEnd`). Returns whether there was one. */
export function endLineage(
  writer: WriteTransaction,
  id: string,
  reason: EndReason,
  now: number,
  keep: Lease | null,
): boolean {
  let hasEnded = false;
  for (const member of lineageMembers(writer, id)) {
    if (endSession(writer, member, reason, now)) hasEnded = true;
    if (revokeLease(writer, member, keep)) interruptStreaming(writer, member, now);
  }
  return hasEnded;
}

/** Opens the chat again, at its tip. Throws UnknownSessionError. */
export function reopenLineage(writer: WriteTransaction, id: string): void {
  reopenSession(writer, tipOf(writer, id));
}

/** The user's own title. */
export function renameLineage(writer: WriteTransaction, id: string, title: string): void {
  for (const member of lineageMembers(writer, id)) renameSession(writer, member, title);
}

export function pinLineage(writer: WriteTransaction, id: string, pinned: boolean): void {
  for (const member of lineageMembers(writer, id)) updateSession(writer, member, { pinned });
}
