/**
 * A prompt that is changed in place, to be sent in a branch; at most one at a time. What was typed is in the browser's storage
 * until the branch is there: closing the box, a reload or another host loses nothing of it.
 */
import { batch, signal } from '@preact/signals';
import type { Host } from '../host.ts';
import type { KeptWords } from './keptWords.ts';

export interface EditedPrompt {
  readonly sessionId: string;
  readonly messageId: string;
  /** What was sent. */
  readonly original: string;
  /** Of the branch and of the prompt in it: the same however often it is tried. */
  readonly branchId: string;
  readonly promptId: string;
}

export class PromptEdit {
  readonly edited = signal<EditedPrompt | null>(null);
  readonly text = signal('');
  /** Sent, and not answered yet. */
  readonly isSending = signal(false);
  readonly #host: Host;
  readonly #kept: KeptWords;
  readonly #newId: () => string;

  constructor(host: Host, kept: KeptWords, newId: () => string) {
    this.#host = host;
    this.#kept = kept;
    this.#newId = newId;
  }

  /** Opens the box, with what was typed into it before. */
  start(sessionId: string, messageId: string, original: string): void {
    this.cancel();
    batch(() => {
      const ids = { branchId: this.#newId(), promptId: this.#newId() };
      this.edited.value = { sessionId, messageId, original, ...ids };
      this.text.value = this.#kept.edit(sessionId, messageId)?.text ?? original;
      this.isSending.value = false;
    });
    this.#keep(true);
  }

  type(text: string): void {
    this.text.value = text;
    this.#keep(true);
  }

  /** Closes the box. What was typed is there again when it is opened anew. */
  cancel(): void {
    this.#keep(false);
    this.edited.value = null;
  }

  send(): void {
    const edited = this.edited.value;
    if (edited === null || this.isSending.value) return;
    const { messageId, branchId, promptId } = edited;
    this.isSending.value = true;
    this.#host.post({ type: 'editAndResend', messageId, branchId, promptId, text: this.text.value });
  }

  /** A prompt was not taken. If it was this one, it may be sent again. */
  rejected(promptId: string): void {
    if (this.edited.value?.promptId === promptId) this.isSending.value = false;
  }

  /** The chat goes on under another id; what is kept was moved there. */
  follow(sessionId: string): void {
    const edited = this.edited.value;
    if (edited !== null && edited.sessionId !== sessionId) this.edited.value = { ...edited, sessionId };
  }

  /** A chat is shown. `textOf` gives the text of a prompt that it shows, null if there is none. */
  meet(sessionId: string, textOf: (messageId: string) => string | null): void {
    const edited = this.edited.value;
    this.isSending.value = false;
    if (edited?.branchId === sessionId) this.#kept.forgetEdit(edited.sessionId, edited.messageId);
    if (edited?.sessionId === sessionId) return;
    this.edited.value = null;
    for (const [messageId, { isOpen }] of this.#kept.edits(sessionId)) {
      const original = textOf(messageId);
      if (isOpen && original !== null) this.start(sessionId, messageId, original);
    }
  }

  #keep(isOpen: boolean): void {
    const edited = this.edited.value;
    if (edited === null) return;
    const { sessionId, messageId, original } = edited;
    const text = this.text.value;
    if (text === original && !isOpen) this.#kept.forgetEdit(sessionId, messageId);
    else this.#kept.keepEdit(sessionId, messageId, { text, isOpen });
  }
}
