/**
 * A branch: a chat of its own that begins with what another chat shows up to one of its messages. It is made in one
 * transaction of a few statements: rows are copied inside the database, so the journal pays nothing for a long chat.
 *
 * Behind a compaction it has two rows, like the chat it comes from: the first holds all that is shown, the second what a
 * model is given of it (the summary, and what is newer), as copies that are not shown twice.
 */
import * as v from 'valibot';
import { makeSession, type Message, type Session } from '../session/model.ts';
import { chatTitle } from '../session/title.ts';
import { UnknownMessageError } from './errors.ts';
import { familyOf } from './forks.ts';
import { lineageOf } from './lineage.ts';
import { activateNewest, copyAsSent, copyAsShown } from './messageCopies.ts';
import { getMessage, interruptStreaming, listMessages } from './messages.ts';
import { insertSession, requireSession, setCopied } from './sessions.ts';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

/** `through`: the branch ends with the message; `before`: it ends before it. */
export type Cut = 'through' | 'before';

export interface Branching {
  /** Any row of the chat. */
  readonly sessionId: string;
  /** One that the chat shows. */
  readonly messageId: string;
  readonly cut: Cut;
  /** The id under which the branch goes on. */
  readonly id: string;
  readonly newId: () => string;
  readonly now: number;
}

/** Where a chat is cut: in which row of it, after which number, and how many rows before that a retry had replaced. */
interface Place {
  readonly index: number;
  readonly through: number;
  /** Newest rows of the branch that are taken up again: the answer that was chosen had been replaced by a retry. */
  readonly revived: number;
}

/**
 * Makes the branch and returns the row in which it goes on. The chat it comes from is not changed, so it does not matter who
 * writes it, or whether it is archived. What streams there is in the branch as far as it is stored, as interrupted. Throws
 * UnknownSessionError and UnknownMessageError.
 */
export function branchSession(writer: WriteTransaction, branching: Branching): Session {
  const { sessionId, id, now } = branching;
  const path = lineageOf(writer, sessionId);
  const parent = requireSession(writer, path.at(-1) ?? sessionId);
  const place = findPlace(writer, path, branching);
  const from = path[place.index] ?? sessionId;
  const isCompacted = place.index > 0;
  const firstId = isCompacted ? branching.newId() : id;
  const { preview } = requireSession(writer, path[0] ?? sessionId);
  const { workspaceUri, workspaceName, modelId } = parent;
  const branch = makeSession({
    id: firstId,
    source: 'panel',
    createdAt: now,
    title: freeTitle(writer, sessionId, chatTitle({ title: parent.title, preview })),
    titleSource: 'auto',
    workspaceUri,
    workspaceName,
    modelId,
    parentId: from,
    edge: 'branch',
  });
  const end = isCompacted ? ({ endedAt: now, endReason: 'compaction' } as const) : {};

  insertSession(writer, { ...branch, ...end });
  for (const [index, row] of path.slice(0, place.index + 1).entries()) {
    const through = index === place.index ? place.through : null;
    copyAsShown(writer, { from: row, through, to: firstId, withoutCopies: index > 0 });
  }
  interruptStreaming(writer, firstId, now); // nobody goes on with it here
  activateNewest(writer, firstId, place.revived);
  setCopied(writer, firstId, { isBranch: true, preview });
  if (isCompacted) {
    insertSession(writer, { ...branch, id, parentId: firstId, edge: 'compaction' });
    copyAsSent(writer, { from, through: place.through, to: id, shownIn: firstId });
    interruptStreaming(writer, id, now);
    activateNewest(writer, id, place.revived);
    setCopied(writer, id, { isBranch: false, preview });
  }
  return requireSession(writer, id);
}

function findPlace(reader: ReadTransaction, path: readonly string[], branching: Branching): Place {
  const message = getMessage(reader, branching.messageId);
  const index = message === null ? -1 : path.indexOf(message.sessionId);
  // In a continuation a copy stands for a message that is shown further up.
  if (message === null || index < 0 || (index > 0 && message.copyOf !== null)) {
    throw new UnknownMessageError();
  }
  if (branching.cut === 'before') return { index, through: message.seq - 1, revived: 0 };
  const through = endOf(reader, message);
  return { index, through, revived: message.active ? 0 : through - attemptStart(reader, message) + 1 };
}

const seqSchema = v.object({ seq: v.nullable(v.number()) });

/** The number of its last row: what its tools gave belongs to a message that asked for them. */
function endOf(reader: ReadTransaction, message: Message): number {
  if (message.role !== 'assistant') return message.seq;
  const next = reader.get(
    `SELECT min(seq) AS seq FROM messages WHERE session_id = ? AND seq > ? AND role <> 'tool'`,
    [message.sessionId, message.seq],
  );
  const { seq } = v.parse(seqSchema, next);
  if (seq !== null) return seq - 1;
  return listMessages(reader, message.sessionId, { limit: 1 })[0]?.seq ?? message.seq;
}

/**
 * The first row of the attempt that this row of a replaced answer belongs to. What led on to the next row is a complete row whose
 * tools gave something.
 */
function attemptStart(reader: ReadTransaction, { sessionId, seq }: Message): number {
  const ledOn = `role = 'assistant' AND status = 'complete' AND active = 0 AND EXISTS(SELECT 1 FROM messages t WHERE t.session_id = m.session_id AND t.seq = m.seq + 1 AND t.role = 'tool')`;
  const before = reader.get(
    `SELECT max(seq) AS seq FROM messages m WHERE session_id = ? AND seq < ? AND role <> 'tool' AND NOT (${ledOn})`,
    [sessionId, seq],
  );
  return (v.parse(seqSchema, before).seq ?? 0) + 1;
}

const suffix = / \(branch(?: \d+)?\)$/;

/** After the chat it comes from, and unlike the titles of its other branches: a list shows them side by side. */
function freeTitle(reader: ReadTransaction, sessionId: string, title: string): string {
  const base = title.replace(suffix, '');
  const taken = new Set(familyOf(reader, sessionId).map((chat) => chat.title));
  for (let number = 1; ; number++) {
    const candidate = `${base} (branch${number === 1 ? '' : ` ${number}`})`;
    if (!taken.has(candidate)) return candidate;
  }
}
