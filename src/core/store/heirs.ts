/**
 * What becomes of the branches of a chat that is deleted: they begin alike, so they stay one family, and each is reached from the
 * others where they part. Their own messages are enough for that: a place is told by how many messages lie before it.
 */
import { branchesOf, isPlaced, type BranchRow } from './forks.ts';
import { membersOfRoot } from './lineage.ts';
import type { WriteTransaction } from './transaction.ts';

/** One statement for all of them, however many there are. */
const giveParent = `UPDATE sessions SET parent_id = ? WHERE parent_id IN (${membersOfRoot}) AND ${isPlaced}`;

/** The place of a chat in its family; of one with which the family begins, or which is not placed, there is none. */
const givePlace = `UPDATE sessions SET (parent_id, edge, branched_after) = (SELECT parent_id, edge, min(branched_after, ?) FROM sessions WHERE id = ? AND ${isPlaced}) WHERE id = ?`;

/**
 * The branch that shares most with the chat with this first row takes its place, and the other branches become its own: what they
 * share with the chat, it has too. From the chat's parent it parts where the chat did, or earlier, where it parted from the chat.
 */
export function passOnBranches(writer: WriteTransaction, root: string): void {
  const [heir] = branchesOf(writer, root).sort(byShare);
  if (heir === undefined) return;
  writer.run(givePlace, [shared(heir), root, heir.id]);
  writer.run(giveParent, [heir.id, root]);
}

function shared({ branched_after: after }: BranchRow): number {
  return after ?? 0;
}

/** The most shared messages first, of equals the oldest chat. */
function byShare(one: BranchRow, other: BranchRow): number {
  return shared(other) - shared(one) || one.created_at - other.created_at;
}
