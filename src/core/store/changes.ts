/** Tells listeners about changes: after the fact, outside any transaction, several at once. */
export interface StoreChange {
  /** `own`: written by this window. */
  readonly origin: 'own' | 'other';
  /** The newest sequence number it holds now. */
  readonly seq: number;
}

export class Changes {
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #log: (line: string) => void;
  #pending = new Map<StoreChange['origin'], number>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  listen(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  announce(origin: StoreChange['origin'], seq: number): void {
    if (this.#pending.size === 0) queueMicrotask(() => this.#deliver());
    this.#pending.set(origin, seq);
  }

  #deliver(): void {
    const changes = this.#pending;
    this.#pending = new Map();
    for (const [origin, seq] of changes) {
      for (const listener of this.#listeners) {
        try {
          listener({ origin, seq });
        } catch (error) {
          this.#log(`a listener failed: ${String(error)}`);
        }
      }
    }
  }
}
