/**
 * Reads a chat as a runtime needs it: the whole lineage as shown, and of the tip also what compaction carried over. Large contents
 * are left in their files until they are shown or sent.
 */
import { emptyDraft, type Draft, type Message, type Session } from '../session/model.ts';
import { getDraft } from '../store/drafts.ts';
import { lineageOf } from '../store/lineage.ts';
import { listMessages } from '../store/messages.ts';
import { getSession } from '../store/sessions.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import { refuseMissingBodies } from '../store/transcript.ts';

export interface LoadedChat {
  readonly session: Session;
  /** The transcript as shown: the whole lineage. */
  readonly messages: readonly Message[];
  readonly draft: Draft;
}

/** The chat that `sessionId` belongs to, at its tip; null when there is no such session. Throws ChatUnreadableError. */
export function loadChat(reader: ReadTransaction, sessionId: string): LoadedChat | null {
  const lineage = lineageOf(reader, sessionId);
  const tip = lineage.at(-1);
  const session = tip === undefined ? null : getSession(reader, tip);
  if (session === null) return null;
  const messages = lineage.flatMap((id, index) => {
    const rows = listMessages(reader, id, { contents: 'leave' });
    // The root may be a branch: its copies are of another chat, and shown like any other row.
    if (index === 0) return rows.map((message) => ({ ...message, copyOf: null }));
    return id === session.id ? rows : rows.filter((message) => message.copyOf === null);
  });
  if (messages.length === 0) refuseMissingBodies(reader, lineage);
  return { session, messages, draft: getDraft(reader, session.id)?.draft ?? emptyDraft };
}
