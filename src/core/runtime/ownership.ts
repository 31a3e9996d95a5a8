/**
 * Whether one runtime may write its session. The lease is taken with the first write, not by looking, and from then on only
 * checked: whoever took it over must not lose it to our next write.
 */
import { isArchived } from '../session/reasons.ts';
import { SessionNotOwnedError } from '../store/errors.ts';
import {
  acquireLease,
  getLease,
  guardLease,
  holdsLease,
  releaseLease,
  type Lease,
  takeOverLease,
} from '../store/leases.ts';
import { interruptStreaming } from '../store/messages.ts';
import { getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction, WriteTransaction } from '../store/transaction.ts';
import { RefusedError } from './problems.ts';

export interface OwnershipOptions {
  readonly store: Store;
  readonly runtimeId: string;
  readonly now: () => number;
  /** Whether a window is still there; one of which that cannot be told counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
  /** Told what a dead window was writing of the chat, which a write has cut off by taking the lease. */
  readonly onCutOff: (messageIds: readonly string[], finishedAt: number) => void;
}

interface Owned {
  readonly lease: Lease;
  readonly cutOff: readonly string[];
  readonly time: number;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  #lease: Lease | null = null;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Null: nothing was written yet, so nothing is held. */
  get lease(): Lease | null {
    return this.#lease;
  }

  /** After a compaction the lease goes on with the child; null: another window made it, and holds nothing of ours. */
  moved(lease: Lease | null): void {
    this.#lease = lease;
  }

  /** Whether what we held is not ours any more: another window took it over, or archived the chat. */
  isLost(reader: ReadTransaction): boolean {
    return this.#lease !== null && !holdsLease(reader, this.#lease);
  }

  /** The next write asks for the lease anew. Not while an answer runs, whose next write is to be refused. */
  forget(): void {
    this.#lease = null;
  }

  /**
   * Runs a transaction on the session that only its owner may run. Rejects with SessionNotOwnedError when another live
   * runtime writes it or took it over, and with a RefusedError when it was archived meanwhile.
   */
  async write<T>(sessionId: string, change: (writer: WriteTransaction) => T): Promise<T> {
    const { owned, value } = await this.#options.store.write((writer) => ({
      owned: this.#own(writer, sessionId),
      value: change(writer),
    }));
    this.#lease = owned.lease;
    if (owned.cutOff.length > 0) this.#options.onCutOff(owned.cutOff, owned.time);
    return value;
  }

  /**
   * **Take over here**: takes the lease from whoever holds it; what was streaming there is cut off and kept. Rejects with a
   * RefusedError when the chat was archived meanwhile, and with SessionNotOwnedError when it goes on in another row.
   */
  async takeOver(sessionId: string): Promise<void> {
    const { store, runtimeId, now } = this.#options;
    this.#lease = await store.write((writer) => {
      refuseIfEnded(writer, sessionId);
      const time = now();
      const lease = takeOverLease(writer, { sessionId, runtimeId, windowId: store.windowId, now: time });
      interruptStreaming(writer, sessionId, time);
      return lease;
    });
  }

  /** The live window of another runtime that holds the lease, so that this one can only follow; null: there is none. */
  ownerElsewhere(reader: ReadTransaction, sessionId: string): string | null {
    const held = getLease(reader, sessionId);
    if (held?.isHeld !== true || held.runtimeId === this.#options.runtimeId) return null;
    return this.isAlive(held.windowId) ? held.windowId : null;
  }

  isAlive(windowId: string): boolean {
    return this.#options.isWindowAlive(windowId);
  }

  /** The same at a glance; see the store. */
  seemsAlive(windowId: string): boolean {
    return this.#options.store.seemsWindowAlive(windowId);
  }

  /** Lets others write the session, if it is still ours. */
  async release(): Promise<void> {
    const lease = this.#lease;
    if (lease === null) return;
    this.#lease = null;
    await this.#options.store.write((writer) => releaseLease(writer, lease));
  }

  #own(writer: WriteTransaction, sessionId: string): Owned {
    refuseIfEnded(writer, sessionId);
    const { store, runtimeId, now, isWindowAlive } = this.#options;
    const time = now();
    if (this.#lease !== null) {
      guardLease(writer, this.#lease);
      return { lease: this.#lease, cutOff: [], time };
    }
    const windowId = store.windowId;
    const lease = acquireLease(writer, { sessionId, runtimeId, windowId, now: time, isWindowAlive });
    return { lease, cutOff: interruptStreaming(writer, sessionId, time), time };
  }
}

function refuseIfEnded(reader: ReadTransaction, sessionId: string): void {
  const session = getSession(reader, sessionId);
  if (session === null) return;
  if (isArchived(session)) {
    throw new RefusedError('archived', 'This chat was archived. Reopen it to go on.');
  }
  // The chat goes on in another row, whose writer is not us.
  if (session.endReason === 'compaction') throw new SessionNotOwnedError(sessionId);
}
