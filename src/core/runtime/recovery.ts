/** What a starting window puts right: answers that were cut off by a death. Nothing else is touched. */
import { getLease } from '../store/leases.ts';
import { finishMessage, streamingMessages } from '../store/messages.ts';
import type { Store } from '../store/store.ts';

/**
 * Marks messages that are still `streaming` without a live writer as `interrupted`, their text kept. Returns how many.
 * Writes nothing when there is nothing to do.
 */
export function recoverInterrupted(
  store: Store,
  isWindowAlive: (windowId: string) => boolean,
  now: number,
): Promise<number> {
  return store.write((writer) => {
    const abandoned = streamingMessages(writer).filter((message) => {
      const lease = getLease(writer, message.sessionId);
      return lease?.isHeld !== true || !isWindowAlive(lease.windowId);
    });
    for (const message of abandoned) {
      finishMessage(writer, message.id, { ...message, status: 'interrupted', finishedAt: now });
    }
    return abandoned.length;
  });
}
