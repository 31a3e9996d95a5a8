/**
 * A lineage: rows chained by `parent_id` over `compaction` edges only. To the user it is one chat; `branch` and `reset` edges
 * start a chat of its own.
 *
 * Compaction makes one child per row. Should there ever be several, the choice of the tip is made here and nowhere else, and
 * a circle of edges ends the walk instead of hanging it.
 */
import * as v from 'valibot';
import { edgeSchema, endReasonSchema } from '../session/model.ts';
import type { ReadTransaction } from './transaction.ts';

const nodeSchema = v.object({
  id: v.string(),
  parent_id: v.nullable(v.string()),
  edge: v.nullable(edgeSchema),
  end_reason: v.nullable(endReasonSchema),
  last_activity_at: v.number(),
  last_activity_seq: v.number(),
});
type Node = Readonly<v.InferOutput<typeof nodeSchema>>;

const columns = 'id, parent_id, edge, end_reason, last_activity_at, last_activity_seq';

function continuationsOf(reader: ReadTransaction, id: string): Node[] {
  return reader
    .all(`SELECT ${columns} FROM sessions WHERE parent_id = ? AND edge = 'compaction'`, [id])
    .map((row) => v.parse(nodeSchema, row))
    .sort(byPreference);
}

/** Best first: itself compacted, then open, then closed; among equals the latest activity. */
function byPreference(left: Node, right: Node): number {
  return (
    rank(right) - rank(left) ||
    right.last_activity_at - left.last_activity_at ||
    right.last_activity_seq - left.last_activity_seq ||
    (right.id < left.id ? -1 : 1)
  );
}

function rank(node: Node): number {
  if (node.end_reason === 'compaction') return 2;
  return node.end_reason === null ? 1 : 0;
}

/**
 * From the root down to the row itself; empty if there is no such row. One statement, because lists ask for many; UNION drops
 * a row that comes again, so a circle ends.
 */
function ancestryOf(reader: ReadTransaction, id: string): string[] {
  return reader
    .all(
      `WITH RECURSIVE up(id, parent_id, edge) AS (SELECT id, parent_id, edge FROM sessions WHERE id = ? UNION SELECT s.id, s.parent_id, s.edge FROM up JOIN sessions s ON s.id = up.parent_id WHERE up.edge = 'compaction') SELECT id FROM up`,
      [id],
    )
    .map((row) => v.parse(v.string(), row['id']))
    .reverse();
}

/** The ids of the chat's rows from the root through this row to its tip; empty if there is no such row. */
export function lineageOf(reader: ReadTransaction, id: string): string[] {
  const path = ancestryOf(reader, id);
  if (path.length === 0) return path;
  let next = continuationsOf(reader, id)[0];
  while (next !== undefined && !path.includes(next.id)) {
    path.push(next.id);
    next = continuationsOf(reader, next.id)[0];
  }
  return path;
}

/** As lineageOf, for a row that is the tip of its chat; null for any other. Costs little, however long the chat is. */
export function lineageOfTip(reader: ReadTransaction, id: string): string[] | null {
  const path = ancestryOf(reader, id);
  const [root] = path;
  if (root === undefined) return null;
  const row = reader.get(
    `SELECT count(*) AS n FROM sessions WHERE edge = 'compaction' AND parent_id IN (${path.map(() => '?').join(', ')})`,
    path,
  );
  // One continuation for each row but the last: there was nothing to choose.
  if (row?.['n'] === path.length - 1) return path;
  const chosen = lineageOf(reader, root);
  return chosen.at(-1) === id ? chosen : null;
}

/** The row in which the chat goes on. A row that is not stored is its own tip. */
export function tipOf(reader: ReadTransaction, id: string): string {
  return lineageOf(reader, id).at(-1) ?? id;
}

/** The chat's first row. A row that is not stored is its own root. */
export function rootOf(reader: ReadTransaction, id: string): string {
  return ancestryOf(reader, id)[0] ?? id;
}

/**
 * SQL of the ids of a chat's rows, of which its parameter is the root. Breadth first, so the root comes first; UNION drops a row that
 * comes again, so a circle ends. For statements that change a chat as a whole, however many rows it has.
 */
export const membersOfRoot = `WITH RECURSIVE members(id) AS (SELECT id FROM sessions WHERE id = ? UNION SELECT s.id FROM members m JOIN sessions s ON s.parent_id = m.id WHERE s.edge = 'compaction') SELECT id FROM members`;

/** Every row of the chat, also continuations that are not on the way to the tip, the root first; empty if it is not stored. */
export function lineageMembers(reader: ReadTransaction, id: string): string[] {
  return reader.all(membersOfRoot, [rootOf(reader, id)]).map((row) => v.parse(v.string(), row['id']));
}
