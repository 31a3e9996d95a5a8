/** The list of commands that opens over the composer while a slash and nothing else is being typed. */
import { computed, signal } from '@preact/signals';
import { findCompletions, noCommands, type Command } from './commands.ts';
import type { Page } from './page.ts';

export class CommandCompletion {
  /** The composer has the focus: a list over a box that nobody types in would be in the way. */
  readonly isFocused = signal(false);
  readonly options = computed<readonly Command[]>(() => {
    const text = this.#page.draft.text.value;
    const isOffered = this.isFocused.value && this.#page.isWritable.value && text !== this.#dismissed.value;
    return isOffered ? findCompletions(text) : noCommands;
  });
  readonly active = computed(() => Math.max(0, Math.min(this.#wanted.value, this.options.value.length - 1)));
  readonly #page: Page;
  readonly #wanted = signal(0);
  /** The text for which the user closed the list. */
  readonly #dismissed = signal<string | null>(null);

  constructor(page: Page) {
    this.#page = page;
  }

  /** Other text: the list is offered again, from its top. */
  typed(): void {
    this.#dismissed.value = null;
    this.#wanted.value = 0;
  }

  point(index: number): void {
    this.#wanted.value = index;
  }

  complete(index: number): void {
    const option = this.options.value[index];
    if (option !== undefined) this.#page.draft.type(option.name, option.name.length);
  }

  /** Whether the key was the list's. A command that is typed out leaves Enter to run it, and Tab to go on. */
  takeKey(key: string): boolean {
    const { length } = this.options.value;
    if (length === 0) return false;
    const active = this.active.value;
    switch (key) {
      case 'ArrowDown':
        this.point((active + 1) % length);
        return true;
      case 'ArrowUp':
        this.point((active + length - 1) % length);
        return true;
      case 'Escape':
        this.#dismissed.value = this.#page.draft.text.value;
        return true;
      case 'Enter':
      case 'Tab':
        if (this.options.value[active]?.name === this.#page.draft.text.value) return false;
        this.complete(active);
        return true;
      default:
        return false;
    }
  }
}
