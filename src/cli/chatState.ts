/** The one word a terminal gets for what a chat is doing. */
import type { Session } from '../core/session/model.ts';
import { isArchived } from '../core/session/reasons.ts';
import { getLease } from '../core/store/leases.ts';
import { streamingMessages } from '../core/store/messages.ts';
import type { ReadTransaction } from '../core/store/transaction.ts';

/** `archived`: by the user; `ended`: by cleanup, the chat itself is as it was; `compacted`: it goes on in another row. */
export type ChatStateName = 'open' | 'running' | 'archived' | 'ended' | 'compacted';

/** Ids of the sessions in which an answer is being written by a process that lives. */
export function runningSessions(
  reader: ReadTransaction,
  isWindowAlive: (windowId: string) => boolean,
): ReadonlySet<string> {
  const ids = new Set(streamingMessages(reader).map((message) => message.sessionId));
  return new Set(
    [...ids].filter((id) => {
      const lease = getLease(reader, id);
      return lease?.isHeld === true && isWindowAlive(lease.windowId);
    }),
  );
}

export function stateOf(session: Session, running: ReadonlySet<string>): ChatStateName {
  const { endReason } = session;
  if (endReason === null) return running.has(session.id) ? 'running' : 'open';
  if (endReason === 'compaction') return 'compacted';
  return isArchived(session) ? 'archived' : 'ended';
}
