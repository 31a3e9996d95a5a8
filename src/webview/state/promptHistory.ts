/** Walks through earlier prompts without touching what was being written. */
export class PromptHistory {
  readonly #prompts: () => readonly string[];
  #draft = '';
  /** Steps back from the draft; 0 is the draft itself. */
  #steps = 0;
  #shown: string | null = null;

  /** `prompts`: oldest first. */
  constructor(prompts: () => readonly string[]) {
    this.#prompts = prompts;
  }

  /** The text to show after going one prompt back, or null to leave the key to the text box. */
  older(text: string): string | null {
    if (!this.#isShowing(text)) {
      if (text !== '') return null;
      this.#draft = text;
      this.#steps = 0;
    }
    const prompt = this.#prompts().at(-1 - this.#steps);
    if (prompt === undefined) return null;
    this.#steps += 1;
    this.#shown = prompt;
    return prompt;
  }

  newer(text: string): string | null {
    if (!this.#isShowing(text)) return null;
    this.#steps -= 1;
    const next = this.#steps === 0 ? this.#draft : (this.#prompts().at(-this.#steps) ?? this.#draft);
    this.#shown = this.#steps === 0 ? null : next;
    return next;
  }

  /** A recalled prompt that was edited is a draft of its own. */
  #isShowing(text: string): boolean {
    return this.#shown !== null && this.#shown === text;
  }
}
