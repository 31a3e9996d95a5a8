/**
 * What the user has typed and what is on its way: the words that must never be lost. Every change is in the webview
 * state at once and goes to the host at once.
 */
import { signal } from '@preact/signals';
import type { PendingPrompt, ScrollAnchor } from '../../core/protocol/pageMessages.ts';
import { emptyDraft, type Draft, type Session } from '../../core/session/model.ts';
import type { Host } from '../host.ts';
import type { PageConfig } from '../pageConfig.ts';

export interface Position {
  /** Null at the end. */
  readonly scroll: number | null;
  readonly anchor: ScrollAnchor | null;
}

export class DraftBox {
  readonly text = signal('');
  /** Sent, but not in the transcript yet. */
  readonly pending = signal<readonly PendingPrompt[]>([]);
  readonly #host: Host;
  readonly #panelId: string;
  #sessionId: string;
  #caret = 0;
  #position: Position = { scroll: null, anchor: null };
  /** When the words or the place last changed; of two drafts the newer counts. */
  #editedAt = 0;
  #isFirstSnapshot = true;
  /** Prompts given back to the composer that the host may turn out to have taken after all. */
  #returned: readonly PendingPrompt[] = [];
  readonly #newId: () => string;

  constructor(host: Host, config: PageConfig, newId: () => string) {
    this.#host = host;
    this.#newId = newId;
    this.#panelId = config.panelId;
    this.#sessionId = config.sessionId;
    const kept = host.readState();
    const own = kept?.sessionId === config.sessionId ? kept : null;
    this.#set(own?.draft ?? emptyDraft, own?.anchor ?? null);
    if (own !== null) this.pending.value = own.pending;
    if (config.draft !== null && config.draft.editedAt > this.#editedAt) this.#set(config.draft, null);
    this.#keep();
  }

  get draft(): Draft {
    return {
      text: this.text.value,
      caret: this.#caret,
      scroll: this.#position.scroll,
      editedAt: this.#editedAt,
    };
  }

  get caret(): number {
    return this.#caret;
  }

  get position(): Position {
    return this.#position;
  }

  /** For `ready`: null when the page has nothing of its own to say. */
  get ownDraft(): Draft | null {
    return this.#editedAt > 0 && this.#sessionId !== '' ? this.draft : null;
  }

  type(text: string, caret: number): void {
    this.#caret = caret;
    this.text.value = text;
    this.#keepAndPost();
  }

  moveCaret(caret: number): void {
    if (caret === this.#caret) return;
    this.#caret = caret;
    this.#keepAndPost();
  }

  moveTo(position: Position): void {
    this.#position = position;
    this.#keepAndPost();
  }

  /** Empties the composer; the text stays here as pending until it is seen in the transcript or given back. */
  send(): PendingPrompt {
    const prompt = { messageId: this.#newId(), text: this.text.value };
    this.pending.value = [...this.pending.value, prompt];
    this.#setText('');
    this.#touch();
    this.#keep();
    this.#host.post({ type: 'send', ...prompt });
    return prompt;
  }

  /** The prompt was not taken: its text comes back, in front of what was typed since. */
  giveBack(messageId: string): void {
    const prompt = this.pending.value.find((candidate) => candidate.messageId === messageId);
    if (prompt === undefined) return;
    this.pending.value = this.pending.value.filter((candidate) => candidate !== prompt);
    this.#returned = [...this.#returned, prompt];
    const newer = this.text.value;
    this.#setText(newer === '' ? prompt.text : `${prompt.text}\n\n${newer}`);
    this.#keepAndPost();
  }

  /** The transcript has this message: its text is no longer ours to keep. */
  arrived(messageId: string): void {
    const pending = this.pending.value.filter((candidate) => candidate.messageId !== messageId);
    const returned = this.#returned.find((candidate) => candidate.messageId === messageId);
    if (pending.length < this.pending.value.length) {
      this.pending.value = pending;
      this.#keepAndPost();
    } else if (returned !== undefined) {
      this.#returned = this.#returned.filter((candidate) => candidate !== returned);
      if (this.text.value.startsWith(returned.text)) {
        this.#setText(this.text.value.slice(returned.text.length).replace(/^\n\n/, ''));
        this.#keepAndPost();
      }
    }
  }

  /** Settles the draft and the pending prompts with a snapshot of the host. */
  meet(session: Session, draft: Draft, has: (messageId: string) => boolean, isNewRuntime: boolean): void {
    const isFirst = this.#isFirstSnapshot;
    this.#isFirstSnapshot = false;
    const isOtherChat = this.#isOtherChat(session);
    this.#sessionId = session.id;
    if (isOtherChat) {
      this.pending.value = [];
      this.#set(draft, null);
      this.#keep();
      return;
    }
    for (const prompt of this.pending.value) {
      if (has(prompt.messageId)) this.arrived(prompt.messageId);
      // Sent by the page before a reload, maybe long ago: the user decides again.
      else if (isFirst) this.giveBack(prompt.messageId);
      else if (isNewRuntime) this.#host.post({ type: 'send', ...prompt });
    }
    // Words typed in this page outlive an empty draft of another viewer.
    const mayReplace = isFirst || this.text.value === '';
    if (mayReplace && draft.editedAt > this.#editedAt) this.#set(draft, this.#position.anchor);
    else if (this.#editedAt > draft.editedAt) this.#host.post({ type: 'draft', draft: this.draft });
    this.#keep();
  }

  /** A compacted chat goes on under a new session id: the words stay. */
  #isOtherChat(session: Session): boolean {
    if (this.#sessionId === '' || session.id === this.#sessionId) return false;
    return !(session.edge === 'compaction' && session.parentId === this.#sessionId);
  }

  /** An anchor says the place more exactly than the draft's pixels. */
  #set(draft: Draft, anchor: ScrollAnchor | null): void {
    this.#caret = draft.caret;
    this.#editedAt = draft.editedAt;
    this.#position = { scroll: draft.scroll, anchor: draft.scroll === null ? null : anchor };
    this.text.value = draft.text;
  }

  #setText(text: string): void {
    this.#caret = text.length;
    this.text.value = text;
  }

  /** Always later than what the host can have made of the draft up to now, also when the clock was set back. */
  #touch(): void {
    this.#editedAt = Math.max(Date.now(), this.#editedAt) + 1;
  }

  #keepAndPost(): void {
    this.#touch();
    this.#keep();
    // No chat to keep it for yet; the first snapshot settles it.
    if (this.#sessionId !== '') this.#host.post({ type: 'draft', draft: this.draft });
  }

  #keep(): void {
    this.#host.writeState({
      panelId: this.#panelId,
      sessionId: this.#sessionId,
      draft: this.draft,
      pending: [...this.pending.value],
      anchor: this.#position.anchor,
    });
  }
}
