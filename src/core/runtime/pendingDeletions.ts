/**
 * Chats that the user asked to delete and can still take back. They live in memory only: a window that goes meanwhile
 * deletes nothing, because what cleanup does is no intent of the user.
 */
import type { Timers } from './timers.ts';

/** How long **Undo** is possible, in milliseconds. */
export const undoMs = 10_000;

export interface PendingOptions {
  readonly timers: Timers;
  /** Deletes the chat for good; reports its own failures, after which the chat is listed again. */
  readonly remove: (sessionId: string) => Promise<void>;
  /** What is pending changed: lists look different. */
  readonly onChange: () => void;
}

export class PendingDeletions {
  readonly #options: PendingOptions;
  readonly #cancels = new Map<string, () => void>();
  readonly #removing = new Set<string>();

  constructor(options: PendingOptions) {
    this.#options = options;
  }

  /** Whether lists leave the chat out. */
  has(sessionId: string): boolean {
    return this.#cancels.has(sessionId) || this.#removing.has(sessionId);
  }

  /** Deletes the chat when the time for Undo is over. Asking again changes nothing. */
  start(sessionId: string): void {
    if (this.has(sessionId)) return;
    const cancel = this.#options.timers.after(undoMs, () => void this.#remove(sessionId));
    this.#cancels.set(sessionId, cancel);
    this.#options.onChange();
  }

  /** False: too late. */
  undo(sessionId: string): boolean {
    const cancel = this.#cancels.get(sessionId);
    if (cancel === undefined) return false;
    cancel();
    this.#cancels.delete(sessionId);
    this.#options.onChange();
    return true;
  }

  /** The window goes: whatever is pending stays. */
  dispose(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  async #remove(sessionId: string): Promise<void> {
    this.#cancels.delete(sessionId);
    this.#removing.add(sessionId);
    try {
      await this.#options.remove(sessionId);
    } finally {
      this.#removing.delete(sessionId);
      this.#options.onChange();
    }
  }
}
