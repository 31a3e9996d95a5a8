/**
 * When a key belongs to an input method and not to us. Three orders occur: the key says so itself (`isComposing`, or
 * code 229), or `compositionend` comes first and the Enter that confirmed the candidate follows in the same tick.
 */
export class CompositionGuard {
  #isComposing = false;
  #justEnded = false;

  start(): void {
    this.#isComposing = true;
  }

  end(): void {
    this.#isComposing = false;
    this.#justEnded = true;
    setTimeout(() => (this.#justEnded = false), 0);
  }

  owns(event: KeyboardEvent): boolean {
    return this.#isComposing || this.#justEnded || event.isComposing || event.keyCode === 229;
  }
}
