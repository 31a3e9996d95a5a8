/**
 * What the user does to a chat as a whole: to all rows of its lineage, never to its branches.
 */
import type { EndReason, Session } from '../session/model.ts';
import { setFence } from './fences.ts';
import { revokeLease, type Lease } from './leases.ts';
import { lineageMembers, tipOf } from './lineage.ts';
import { interruptStreaming } from './messages.ts';
import { listRoutes, repointRoute } from './routes.ts';
import { endSession, getSession, insertSession, renameSession, reopenSession, requireSession, updateSession } from './sessions.ts';
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

function endLineage(
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

/** Opens the chat again, at its tip. Does nothing for a chat that is open. */
export function reopenLineage(writer: WriteTransaction, id: string): void {
  const tip = tipOf(writer, id);
  if (tip !== null) reopenSession(writer, tip);
}

/** The user's own title. */
export function renameLineage(writer: WriteTransaction, id: string, title: string): void {
  for (const member of lineageMembers(writer, id)) renameSession(writer, member, title);
}

export function pinLineage(writer: WriteTransaction, id: string, pinned: boolean): void {
  for (const member of lineageMembers(writer, id)) updateSession(writer, member, { pinned });
}

export interface Reset {
  readonly sessionId: string;
  /** The place that starts anew. */
  readonly origin: string;
  readonly now: number;
  /** What the place shows from now on; it becomes a `reset` child of the old row. */
  readonly newSession: Session;
  /** The lease of the runtime that asks for it. */
  readonly keep?: Lease | null;
}

/**
 * **Archive and Start New**: ends the chat, fences the place against everything that was last active before, and points the
 * routes of the place that showed the chat to a new one. Returns the new session.
 */
export function resetSession(writer: WriteTransaction, reset: Reset): Session {
  const { sessionId, origin, now, newSession } = reset;
  const isStored = getSession(writer, sessionId) !== null;
  const shown = isStored ? lineageMembers(writer, sessionId) : [sessionId];
  endLineage(writer, sessionId, 'session_reset', now, reset.keep ?? null);
  setFence(writer, origin);
  const edge = isStored ? ({ parentId: sessionId, edge: 'reset' } as const) : { parentId: null, edge: null };
  insertSession(writer, { ...newSession, ...edge, endedAt: null, endReason: null });
  for (const route of listRoutes(writer, { origin })) {
    if (shown.includes(route.sessionId)) {
      repointRoute(writer, route.key, route.sessionId, newSession.id, now);
    }
  }
  return requireSession(writer, newSession.id);
}
