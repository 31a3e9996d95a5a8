/**
 * Waits for the disk on behalf of many: one fdatasync at a time, shared by every change written before it began. It covers
 * every earlier frame of the file, other windows' too, so nothing acknowledged rests on something that could be lost.
 */
import type { FileLayer } from './fileLayer.ts';
import type { Journal } from './journal.ts';

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface DurabilityOptions {
  readonly files: FileLayer;
  /** Where the window stands now. */
  readonly current: () => { journal: Journal; seq: number };
  /**
   * Called when a sync failed. The pages may be gone, so the same file is never synced again: this makes the state durable
   * by other means, or throws what the waiters are told.
   */
  readonly recover: (error: unknown) => Promise<void>;
  readonly onDurable: (seq: number) => void;
}

export class Durability {
  readonly #options: DurabilityOptions;
  /** Journals that were left at a seal which is not known to be durable. */
  #left: Journal[] = [];
  #waiters: Waiter[] = [];
  #durable: number;
  #running: Promise<void> | null = null;
  /** Why the disk refused a sync, until the state was saved by other means: a later sync may say that all is well when it is not. */
  #refusal: { readonly error: unknown } | null = null;
  #isRecovering = false;

  constructor(options: DurabilityOptions, durable: number) {
    this.#options = options;
    this.#durable = durable;
  }

  /** The highest sequence number known to be on disk. */
  get seq(): number {
    return this.#durable;
  }

  /** Some frame said so. */
  learn(seq: number): void {
    if (seq <= this.#durable) return;
    this.#durable = seq;
    this.#settle();
  }

  /** What is written to the next journal is safe only once the one left is synced up to its seal. */
  leave(journal: Journal): void {
    if (this.#isRecovering || this.#refusal !== null) {
      journal.close(); // the snapshot that recovery makes stands for all of it
      return;
    }
    this.#left.push(journal);
    this.#start();
  }

  /** Begins to sync the journal that is written, which holds the frame `seq` already; nobody needs to wait for it yet. */
  begin(seq: number): void {
    if (this.#running === null) this.#start(seq);
  }

  /** Resolves once everything up to `seq` is on disk. */
  wait(seq: number): Promise<void> {
    if (seq <= this.#durable) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq, resolve, reject });
      this.#start();
    });
  }

  /** Syncs what is unsynced and closes the journals that were left. */
  async drain(): Promise<void> {
    await this.#settled();
    if (this.#durable < this.#options.current().seq || this.#left.length > 0) {
      this.#start();
      await this.#settled();
    }
  }

  /** Waits until no sync is under way; one may start while another is waited for. */
  async #settled(): Promise<void> {
    for (let running = this.#running; running !== null; running = this.#running) await running;
  }

  #start(upTo = this.#options.current().seq): void {
    if (this.#running !== null) return;
    this.#running = this.#run(upTo).finally(() => {
      this.#running = null;
      const { seq } = this.#options.current();
      const isDue = this.#waiters.some((waiter) => waiter.seq <= seq);
      if (isDue || this.#left.length > 0) this.#start();
    });
  }

  async #run(seq: number): Promise<void> {
    const { journal } = this.#options.current();
    if (this.#refusal !== null) {
      await this.#recover(this.#refusal.error, seq);
      return;
    }
    const left = this.#left;
    this.#left = [];
    try {
      for (const earlier of left) await this.#options.files.sync(earlier.descriptor);
      if (seq > this.#durable) await this.#options.files.sync(journal.descriptor);
    } catch (error) {
      this.#refusal = { error };
      await this.#recover(error, seq);
      return;
    } finally {
      for (const earlier of left) earlier.close();
    }
    this.#advance(seq);
  }

  /** Everything up to `seq` was to be synced, and perhaps is not. */
  async #recover(error: unknown, seq: number): Promise<void> {
    this.#isRecovering = true;
    try {
      await this.#options.recover(error);
    } catch (failure) {
      const waiters = this.#waiters.filter((waiter) => waiter.seq <= seq);
      this.#waiters = this.#waiters.filter((waiter) => waiter.seq > seq);
      for (const waiter of waiters) waiter.reject(failure);
      return;
    } finally {
      this.#isRecovering = false;
    }
    this.#refusal = null;
    this.#advance(seq);
  }

  #advance(seq: number): void {
    if (seq > this.#durable) {
      this.#durable = seq;
      this.#options.onDurable(seq);
    }
    this.#settle();
  }

  #settle(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.seq > this.#durable);
    for (const waiter of waiters) if (waiter.seq <= this.#durable) waiter.resolve();
  }
}
