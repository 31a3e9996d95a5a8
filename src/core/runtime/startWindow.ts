/** What a starting window puts right before anything is shown. */
import type { Store } from '../store/store.ts';
import { healRoutes } from './healing.ts';
import { messageOf } from './problems.ts';
import { recoverInterrupted } from './recovery.ts';
import type { Rescue, RescuedFile } from './rescue.ts';

export interface StartOptions {
  readonly store: Store;
  readonly rescue: Rescue;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/**
 * Marks the answers of dead windows, brings in what they could not save, and heals the routes. Each part contains its failure:
 * chats that cannot be written can be read all the same. Resolves to what was brought in, or still waits.
 */
export async function startWindow({ store, rescue, now, log }: StartOptions): Promise<RescuedFile[]> {
  const isWindowAlive = (windowId: string): boolean => store.isWindowAlive(windowId);
  const contained = async (part: string, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      log(`${part} failed: ${messageOf(error)}`);
    }
  };
  if (!store.isReadOnly) {
    await contained('marking the answers of dead windows', () =>
      recoverInterrupted(store, isWindowAlive, now()),
    );
  }
  const rescued = await rescue.bringIn(store);
  if (!store.isReadOnly)
    await contained('healing the routes', () => healRoutes(store, { isWindowAlive, log }));
  return rescued;
}
