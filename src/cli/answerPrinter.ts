/** A terminal as a viewer of a chat: prints what an answer says while it says it. It makes the chat nobody's panel. */
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import type { Viewer } from '../core/runtime/viewer.ts';
import { plainText } from './output.ts';

export class AnswerPrinter implements Viewer {
  readonly isPanel = false;
  readonly #print: (text: string) => void;
  /** A carriage return at the end of a piece: the next one says whether it ends a line. */
  #held = '';
  #text = '';
  /** The row of the answer that is being written. */
  #rowId = '';

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** Everything the answer said. */
  get text(): string {
    return this.#text;
  }

  receive(message: HostMessage): void {
    if (message.type !== 'event') return;
    const { event } = message;
    if (event.type === 'messageAdded' && event.message.role === 'assistant') {
      this.#rowId = event.message.id;
      // What is said after a tool call is a paragraph of its own.
      if (this.#text !== '') this.#add(this.#text.endsWith('\n') ? '\n' : '\n\n');
    }
    // The results of tools grow in the same way; they are no part of the answer.
    if (event.type === 'textAppended' && event.id === this.#rowId) this.#add(event.text);
  }

  isVisible(): boolean {
    return true;
  }

  reclaimed(): void {
    // The program ends with its answer; there is nothing to attach to again.
  }

  /** Ends the last line. */
  end(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#print(`${plainText(this.#held)}\n`);
    this.#held = '';
  }

  #add(piece: string): void {
    this.#text += piece;
    const text = this.#held + piece;
    this.#held = text.endsWith('\r') ? '\r' : '';
    this.#print(plainText(this.#held === '' ? text : text.slice(0, -1)));
  }
}
