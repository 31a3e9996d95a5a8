/**
 * What becomes of the branches of a chat that is deleted: they begin alike, so they stay one family, and each is reached from the
 * others where they part. Their own messages are enough for that: a place is told by how many messages lie before it.
 */
import { branchesOf, isPlaced, type BranchRow } from './forks.ts';
import { membersOfRoot } from './lineage.ts';
import { getSession } from './sessions.ts';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

/** Where a branch comes from: a row of another chat, and how many messages the two share. */
interface Origin {
  readonly parentId: string;
  readonly after: number;
}

/** One statement for all of them, however many there are. */
const giveParent = `UPDATE sessions SET parent_id = ? WHERE parent_id IN (${membersOfRoot}) AND ${isPlaced}`;

/**
 * Gives the branches of the chat with this first row another parent. What parts from it no later than it parts from its own parent
 * goes to that one; of the others, the branch that shares most with the chat takes its place, and the rest become its branches.
 */
export function passOnBranches(writer: WriteTransaction, root: string): void {
  const origin = originOf(writer, root);
  const branches = branchesOf(writer, root);
  const [heir] = branches.filter((branch) => origin === null || shared(branch) > origin.after).sort(byShare);
  if (origin !== null)
    writer.run(`${giveParent} AND branched_after <= ?`, [origin.parentId, root, origin.after]);
  if (heir === undefined) return;
  writer.run('UPDATE sessions SET parent_id = ?, edge = ?, branched_after = ? WHERE id = ?', [
    origin?.parentId ?? null,
    origin === null ? null : 'branch',
    origin?.after ?? null,
    heir.id,
  ]);
  writer.run(giveParent, [heir.id, root]);
}

function shared({ branched_after: after }: BranchRow): number {
  return after ?? 0;
}

/** The most shared messages first, of equals the oldest chat. */
function byShare(one: BranchRow, other: BranchRow): number {
  return shared(other) - shared(one) || one.created_at - other.created_at || (one.id < other.id ? -1 : 1);
}

/** Null: it is where its family begins. */
function originOf(reader: ReadTransaction, root: string): Origin | null {
  const session = getSession(reader, root);
  if (session?.edge !== 'branch' || session.parentId === null || session.branchedAfter === null) return null;
  return { parentId: session.parentId, after: session.branchedAfter };
}
