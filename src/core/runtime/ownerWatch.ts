/** While chats are followed here, looks whether the windows that write them still live; nobody else tells of a death. */
import type { ChatState } from '../session/reducer.ts';
import type { Timers } from './timers.ts';

/** How long a window that follows a chat may not notice that the process of the one that writes it is gone, in milliseconds. */
export const ownerGlanceMs = 2000;
/**
 * How often it makes sure, in milliseconds: that the process is still the same one, that a window of another host is still heard.
 * Seldom, because files are read for it, which is most of what a window does that only follows (the benchmark `idle-cost`).
 */
export const ownerCheckMs = 30_000;

/** A chat as it is watched. */
export interface WatchedChat {
  readonly state: Pick<ChatState, 'owner'>;
  readonly seemsAbandoned: boolean;
  readonly isAbandoned: boolean;
}

export interface OwnerWatchOptions {
  readonly timers: Timers;
  readonly runtimes: () => Iterable<WatchedChat>;
  /** A chat is abandoned; afterwards the watch is started anew by whoever still follows one. */
  readonly onAbandoned: () => void;
}

export class OwnerWatch {
  readonly #options: OwnerWatchOptions;
  #cancel: (() => void) | null = null;
  /** Monotonic time of the last close look, in milliseconds. */
  #checkedAt: number;
  #isStopped = false;

  constructor(options: OwnerWatchOptions) {
    this.#options = options;
    this.#checkedAt = options.timers.now();
  }

  /** A chat may be followed now. One that is watched already is not waited for any longer. */
  start(): void {
    const { timers, runtimes } = this.#options;
    if (this.#isStopped || this.#cancel !== null) return;
    const isFollowed = (chat: WatchedChat): boolean =>
      chat.state.owner === 'elsewhere' || chat.seemsAbandoned;
    if (![...runtimes()].some(isFollowed)) return;
    this.#cancel = timers.after(ownerGlanceMs, () => this.#look());
  }

  /** For good. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #look(): void {
    const { timers, runtimes, onAbandoned } = this.#options;
    this.#cancel = null;
    const isDue = timers.now() - this.#checkedAt >= ownerCheckMs;
    if (isDue) this.#checkedAt = timers.now();
    const isAbandoned = (runtime: WatchedChat): boolean =>
      (isDue || runtime.seemsAbandoned) && runtime.isAbandoned;
    if ([...runtimes()].some(isAbandoned)) onAbandoned();
    else this.start();
  }
}
