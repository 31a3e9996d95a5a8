/**
 * What a starting window puts right: answers that were cut off by a death, and leases of the dead. Nothing else is touched, so
 * a start that finds nothing to do writes nothing.
 */
import { getLease, listLeases, releaseLease } from '../store/leases.ts';
import { interruptStreaming, streamingMessages } from '../store/messages.ts';
import type { IsWindowAlive } from '../store/routes.ts';
import type { Store } from '../store/store.ts';

/**
 * Marks messages that are still `streaming` without a live writer as `interrupted`, their text kept, and releases the leases
 * of dead windows; their epochs stay. That is no activity of the chats. Returns how many messages.
 */
export function recoverInterrupted(store: Store, isWindowAlive: IsWindowAlive, now: number): Promise<number> {
  return store.write((writer) => {
    for (const lease of listLeases(writer)) {
      if (!isWindowAlive(lease.windowId)) releaseLease(writer, lease);
    }
    const sessions = new Set(streamingMessages(writer).map((message) => message.sessionId));
    let count = 0;
    for (const sessionId of sessions) {
      if (getLease(writer, sessionId)?.isHeld === true) continue;
      count += interruptStreaming(writer, sessionId, now).length;
    }
    return count;
  });
}
