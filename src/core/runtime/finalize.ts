/**
 * Takes a runtime down. Destroying a runtime never ends a conversation: the row ends only if the user archived it, or if
 * it is nobody's panel chat and its runtime was cleaned up.
 *
 * Each step contains its own failure: a hook, a memory or a disk that fails must not keep the rest from happening, and
 * above all must not end a row.
 */
import type { EndReason } from '../session/model.ts';
import { isAutomatic, mayEndAutomatically } from '../session/reasons.ts';
import { isHeldByOther } from '../store/leases.ts';
import { archiveLineage } from '../store/lineageChanges.ts';
import { wasShownByPanel } from '../store/routes.ts';
import { endSession, getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import type { ChatRuntime } from './chatRuntime.ts';
import type { LifecycleHooks } from './hooks.ts';
import type { MemoryProvider } from './memory.ts';
import type { Rescue } from './rescue.ts';
import { waitAtMost, type Timers } from './timers.ts';

/** How long a running turn may take to stop before the teardown goes on without it. */
const interruptPatienceMs = 5000;
/** How long a window that goes waits for its disk before the words are put elsewhere; it has 5 s for everything. */
const flushPatienceMs = 2000;
/** How long it makes the memory of a long chat; what is not ready is made when the chat is given back the next time. */
const memoryPatienceMs = 1000;

export interface FinalizeServices {
  readonly store: Store;
  readonly hooks: LifecycleHooks;
  readonly memory: MemoryProvider;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly timers: Timers;
  /** Keeps elsewhere what could not be saved; null: it is to be forgotten with the chat. */
  readonly rescue: Rescue | null;
  /** Whether a window is still there; one of which that cannot be told counts as alive, so that its row is spared. */
  readonly isWindowAlive: (windowId: string) => boolean;
  /** How an explicit reason ends the chat; absent: by archiving its lineage. */
  readonly end?: (writer: WriteTransaction) => void;
  /** Takes the runtime out of the registry. */
  readonly remove: () => void;
}

/**
 * Finalizes the runtime for `reason`. Calling it again does nothing. Resolves when all is done; never rejects. After
 * step 7 nothing may touch the row's end: a row that it spared stays as it is.
 */
export async function finalize(
  runtime: ChatRuntime,
  reason: EndReason,
  services: FinalizeServices,
): Promise<void> {
  if (!runtime.beginFinalizing()) return;
  const contained = async (step: string, run: () => Promise<void> | void): Promise<void> => {
    try {
      await run();
    } catch (error) {
      services.log(`finalize ${runtime.session.id} (${reason}): ${step} failed: ${String(error)}`);
    }
  };
  const { hooks, memory, store } = services;
  // The durable id is the session the runtime writes now: after a compaction it is the child.
  const { id: sessionId, source, modelId } = runtime.session;

  const isHurried = reason === 'host_shutdown';
  const within = (patienceMs: number, promise: Promise<void>): Promise<void> =>
    isHurried ? waitAtMost(services.timers, patienceMs, promise) : promise;

  await contained('interrupt', () => runtime.interrupt(isHurried ? 0 : interruptPatienceMs));
  await contained('flush', () => within(flushPatienceMs, runtime.flush()));
  await contained('rescue', () => services.rescue?.keep(sessionId, runtime.unsaved()));
  await contained('end hooks', () =>
    hooks.fireSessionEnd({ sessionId, completed: false, interrupted: true, model: modelId, source }),
  );
  await contained('memory', async () => {
    if (!runtime.hasHistory) return;
    await within(memoryPatienceMs, memory.commit(sessionId, runtime.lease !== null));
  });
  await contained('finalize hooks', () => hooks.fireSessionFinalize({ sessionId, source }));
  await contained('end row', async () => {
    await store.write((writer) => endRow(writer, runtime, reason, services));
  });
  await contained('release', () => runtime.release());
  services.remove();
  runtime.dispose();
  if (isAutomatic(reason)) await hooks.fireReclaimed({ runtimeId: runtime.id, sessionId, reason });
}

/** Step 7, in one transaction with the lease. When in doubt about who owns the session, it spares the row. */
function endRow(
  writer: WriteTransaction,
  runtime: ChatRuntime,
  reason: EndReason,
  services: FinalizeServices,
): void {
  const session = getSession(writer, runtime.session.id);
  if (session === null) return; // nothing was ever written
  if (!isAutomatic(reason)) {
    // The user's wish: siblings and their leases do not hinder it.
    if (services.end === undefined) archiveLineage(writer, session.id, services.now(), runtime.lease);
    else services.end(writer);
    return;
  }
  if (!mayEndAutomatically(session, runtime.isPanel, wasShownByPanel(writer, session.id))) return;
  if (isHeldByOther(writer, session.id, runtime.id, services.isWindowAlive)) return;
  endSession(writer, session.id, reason, services.now());
}
