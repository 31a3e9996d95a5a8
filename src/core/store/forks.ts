/**
 * Where the branches of a conversation part. Branches begin with copies of what they come from, in order and without gaps, so
 * a place is told by a number: how many messages lie before it. A place where chats part is a fork, and at each fork a chat
 * takes one of several ways; a way is named by the chat that wrote its first message.
 */
import * as v from 'valibot';
import { lineageMembers, rootOf } from './lineage.ts';
import type { ReadTransaction } from './transaction.ts';

/** A chat among those that begin alike. */
export interface Relative {
  /** The first row of the chat. */
  readonly id: string;
  readonly title: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  /** Null: the chat with which the family begins. */
  readonly parent: Relative | null;
  /** How many messages it shares with its parent. */
  readonly after: number;
}

/** As `Fork` of the events, with the number of messages before it. */
export interface ForkPlace {
  /** How many messages of the chat lie before it. */
  readonly after: number;
  /** A chat for each way on, oldest first: the first row of each. */
  readonly chats: readonly string[];
  /** Which of them the chat itself goes. */
  readonly current: number;
}

const rowSchema = v.object({
  id: v.string(),
  title: v.string(),
  created_at: v.number(),
  parent_id: v.nullable(v.string()),
  branched_after: v.nullable(v.number()),
});
export type BranchRow = Readonly<v.InferOutput<typeof rowSchema>>;

const columns = 'id, title, created_at, parent_id, branched_after';
/** A branch whose place is not known (it was brought in, or its parent is gone) is the beginning of a family of its own. */
export const isPlaced = `edge = 'branch' AND branched_after IS NOT NULL`;

/** Every chat that goes back to the same beginning, each behind its parent; empty if the chat is not stored. */
export function familyOf(reader: ReadTransaction, sessionId: string): Relative[] {
  const family: Relative[] = [];
  const add = (row: BranchRow, parent: Relative | null): void => {
    const { id, title } = row;
    family.push({ id, title, createdAt: row.created_at, parent, after: row.branched_after ?? 0 });
  };
  const first = firstOf(reader, sessionId);
  if (first !== null) add(first, null);
  for (const relative of family) {
    for (const row of branchesOf(reader, relative.id)) {
      if (!family.some(({ id }) => id === row.id)) add(row, relative);
    }
  }
  return family;
}

/** The forks that the chat passes, from its beginning to its end. */
export function forksOf(reader: ReadTransaction, sessionId: string): ForkPlace[] {
  const family = familyOf(reader, sessionId);
  const root = rootOf(reader, sessionId);
  const chat = family.find(({ id }) => id === root);
  if (chat === undefined) return [];
  const forks = new Map<number, string[]>();
  for (const { id, parent, after } of inOrder(family)) {
    if (parent === null || writerOf(parent, after) !== writerOf(chat, after)) continue;
    const chats = forks.get(after) ?? [writerOf(parent, after).id];
    forks.set(after, [...chats, id]);
  }
  return [...forks]
    .sort(([left], [right]) => left - right)
    .map(([after, chats]) => ({ after, chats, current: chats.indexOf(writerOf(chat, after + 1).id) }));
}

/** The chat in which the message was written that this chat shows at the place, from 1; 0: where the family begins. */
function writerOf(chat: Relative, place: number): Relative {
  let writer = chat;
  while (writer.parent !== null && place <= writer.after) writer = writer.parent;
  return writer;
}

function inOrder(family: readonly Relative[]): Relative[] {
  return [...family].sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

function firstOf(reader: ReadTransaction, sessionId: string): BranchRow | null {
  let found: BranchRow | null = null;
  let next: string | null = sessionId;
  const seen = new Set<string>();
  while (next !== null) {
    const root = rootOf(reader, next);
    if (seen.has(root)) return found; // a circle
    seen.add(root);
    const row = reader.get(`SELECT ${columns}, (${isPlaced}) AS is_placed FROM sessions WHERE id = ?`, [
      root,
    ]);
    if (row === undefined) return found;
    found = v.parse(rowSchema, row);
    next = row['is_placed'] === 1 ? found.parent_id : null;
  }
  return found;
}

/** The chats that were branched from the chat and are placed in it, by their first rows. */
export function branchesOf(reader: ReadTransaction, id: string): BranchRow[] {
  const members = lineageMembers(reader, id);
  return reader
    .all(
      `SELECT ${columns} FROM sessions WHERE parent_id IN (${members.map(() => '?').join(', ')}) AND ${isPlaced} ORDER BY id`,
      members,
    )
    .map((row) => v.parse(rowSchema, row));
}
