/** **Archive and Start New**: the one way to end a chat and go on in the same place. */
import type { Session } from '../session/model.ts';
import { setFence } from './fences.ts';
import type { Lease } from './leases.ts';
import { lineageMembers } from './lineage.ts';
import { endLineage } from './lineageChanges.ts';
import { listRoutes, repointRoute } from './routes.ts';
import { getSession, insertSession, requireSession } from './sessions.ts';
import type { WriteTransaction } from './transaction.ts';

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
 * Ends the chat, fences the place against everything that was last active before, and points the
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
