/** Puts what the user types on disk: after a short rest, and at least every second while they go on typing. */
import { emptyDraft, type Draft } from '../session/model.ts';

/** Written when the user rests this long. */
const restMs = 300;
/** And at least this often while they do not. */
const atLeastMs = 1000;
/** Pause before a failed write is tried again. */
const retryMs = 5000;

export class DraftKeeper {
  readonly #save: (draft: Draft) => Promise<boolean>;
  #current: Draft;
  #waitingSince: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Writes under way. */
  #saving = 0;

  /** `save` writes the draft, reports its own failures and says whether it succeeded; a failed one is tried again. */
  constructor(initial: Draft, save: (draft: Draft) => Promise<boolean>) {
    this.#current = initial;
    this.#save = save;
  }

  get current(): Draft {
    return this.#current;
  }

  /** The newest is not known to be on disk. */
  get hasUnwritten(): boolean {
    return this.#waitingSince !== null || this.#saving > 0;
  }

  /**
   * Takes newer words; older ones (of a page restored from before a send, or of a second panel) are ignored. With the words
   * that are here, wherever they come from, the place is taken.
   */
  set(draft: Draft): void {
    const { text, caret, scroll, editedAt } = this.#current;
    const hasSameWords = draft.text === text;
    if (!hasSameWords && draft.editedAt <= editedAt) return;
    if (hasSameWords && draft.caret === caret && draft.scroll === scroll && draft.editedAt <= editedAt)
      return;
    this.#current = { ...draft, editedAt: Math.max(draft.editedAt, editedAt) };
    const now = performance.now();
    this.#waitingSince ??= now;
    this.#flushAfter(Math.max(0, Math.min(restMs, this.#waitingSince + atLeastMs - now)));
  }

  /** The draft as it is to be stored together with the prompt that was made of it: empty, and newer than the text was. */
  emptied(now: number): Draft {
    return { ...emptyDraft, editedAt: Math.max(now, this.#current.editedAt + 1) };
  }

  /** The prompt is stored, and this draft with it. */
  stored(draft: Draft): void {
    this.#current = draft;
    this.#cancel();
  }

  /** Writes what waits, now. */
  async flush(): Promise<void> {
    if (this.#waitingSince === null) return;
    this.#cancel();
    this.#saving += 1;
    const isSaved = await this.#save(this.#current).finally(() => (this.#saving -= 1));
    if (isSaved) return;
    this.#waitingSince ??= performance.now();
    this.#flushAfter(retryMs);
  }

  dispose(): void {
    this.#cancel();
  }

  #flushAfter(milliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), milliseconds);
  }

  #cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waitingSince = null;
  }
}
