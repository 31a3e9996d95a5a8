/**
 * What the user has typed and what is on its way: the words that must never be lost. Every change is at once in the
 * webview state and in the browser's storage (keptWords.ts), and goes to the host at once. Of the copies the newest counts.
 */
import { signal } from '@preact/signals';
import type { PendingPrompt, ScrollAnchor } from '../../core/protocol/pageMessages.ts';
import { emptyDraft, type Draft, type Session } from '../../core/session/model.ts';
import type { Host } from '../host.ts';
import type { PageConfig } from '../pageConfig.ts';
import type { KeptWords } from './keptWords.ts';

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
  readonly #kept: KeptWords;
  readonly #panelId: string;
  #sessionId: string;
  /** The host's panel is known to be on the same chat as these words: only then they may go there. */
  #isSameChat: boolean;
  #caret = 0;
  #position: Position = { scroll: null, anchor: null };
  /** When the words last changed; of two drafts the newer counts. */
  #editedAt = 0;
  /** The place is this page's own, not the one a chat is opened at. */
  #isPlaced: boolean;
  #isFirstSnapshot = true;
  #isReadOnly = false;
  /** Prompts given back to the composer that the host may turn out to have taken after all. */
  #returned: readonly PendingPrompt[] = [];
  readonly #newId: () => string;

  constructor(host: Host, kept: KeptWords, config: PageConfig, newId: () => string) {
    this.#host = host;
    this.#kept = kept;
    this.#newId = newId;
    this.#panelId = config.panelId;
    const state = host.readState();
    // A panel may show another chat than the one its document was made with; its state then knows better.
    const isOwn = state?.sessionId === config.sessionId || state?.panelId === config.panelId;
    const own = isOwn ? state : null;
    this.#sessionId = own?.sessionId ?? config.sessionId;
    this.#isSameChat = this.#sessionId !== '' && this.#sessionId === config.sessionId;
    this.#set(own?.draft ?? emptyDraft, own?.anchor ?? null);
    this.#isPlaced = own !== null;
    this.pending.value = own?.pending ?? [];
    this.#takeKept();
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

  /** For `ready`: null when the page has nothing of its own to say. Words it found in the storage wait for the snapshot. */
  get ownDraft(): Draft | null {
    return this.#isPlaced && this.#mayPost ? this.draft : null;
  }

  /** Another window writes the chat: what is here is kept, and told when the chat is writable again. */
  setReadOnly(isReadOnly: boolean): void {
    const wasReadOnly = this.#isReadOnly;
    this.#isReadOnly = isReadOnly;
    if (wasReadOnly && !isReadOnly && this.text.value !== '') this.#post();
  }

  type(text: string, caret: number): void {
    this.#caret = caret;
    this.text.value = text;
    this.#wordsChanged();
  }

  moveCaret(caret: number): void {
    if (caret === this.#caret) return;
    this.#caret = caret;
    this.#placeChanged();
  }

  moveTo(position: Position): void {
    this.#position = position;
    this.#placeChanged();
  }

  /**
   * Empties the composer; the text stays here as pending until it is seen in the transcript or given back. `evenUnsaved`: the
   * user wants it sent though it cannot be saved now.
   */
  send(evenUnsaved = false): PendingPrompt {
    const prompt = { messageId: this.#newId(), text: this.text.value };
    this.pending.value = [...this.pending.value, prompt];
    this.#kept.keepPrompt(this.#sessionId, prompt);
    this.#setText('');
    this.#touch();
    this.#keep();
    this.#kept.keepDraft(this.#sessionId, this.draft);
    this.#host.post({ type: 'send', ...prompt, evenUnsaved });
    return prompt;
  }

  /** The prompt was not taken: its text comes back, in front of what was typed since. */
  giveBack(messageId: string): void {
    const prompt = this.pending.value.find((candidate) => candidate.messageId === messageId);
    if (prompt === undefined) return;
    this.pending.value = this.pending.value.filter((candidate) => candidate !== prompt);
    this.#returned = [...this.#returned, prompt];
    this.#setText(join(prompt.text, this.text.value));
    this.#wordsChanged();
    this.#kept.forgetPrompt(this.#sessionId, messageId);
  }

  /** The transcript has this message: its text is no longer ours to keep. */
  arrived(messageId: string): void {
    this.#kept.forgetPrompt(this.#sessionId, messageId);
    const pending = this.pending.value.filter((candidate) => candidate.messageId !== messageId);
    const returned = this.#returned.find((candidate) => candidate.messageId === messageId);
    if (pending.length < this.pending.value.length) {
      this.pending.value = pending;
      this.#placeChanged();
    } else if (returned !== undefined) {
      this.#returned = this.#returned.filter((candidate) => candidate !== returned);
      if (this.text.value.startsWith(returned.text)) {
        this.#setText(this.text.value.slice(returned.text.length).replace(/^\n\n/, ''));
        this.#wordsChanged();
      }
    }
  }

  /** The chat goes on under a new id, with the same words. */
  follow(session: Session): void {
    if (session.id === this.#sessionId) return;
    this.#kept.move(this.#sessionId, session.id);
    this.#sessionId = session.id;
    this.#keep();
  }

  /** Settles the draft and the pending prompts with a snapshot of the host. */
  meet(session: Session, draft: Draft, has: (messageId: string) => boolean, isNewRuntime: boolean): void {
    const isUnnamed = this.#sessionId === '';
    const isOtherChat = !isUnnamed && !isSameChat(session, this.#sessionId);
    const isJoining = this.#isFirstSnapshot || isUnnamed || isOtherChat;
    // Typed before it was known for which chat: they come on top of what that chat has.
    const stray = isUnnamed ? this.text.value : '';
    if (isUnnamed || isOtherChat) {
      this.pending.value = [];
      this.#set(emptyDraft, null);
      this.#isPlaced = false;
    }
    if (session.edge === 'compaction' && session.parentId !== null) {
      this.#kept.move(session.parentId, session.id);
    }
    this.#isFirstSnapshot = false;
    this.#sessionId = session.id;
    this.#isSameChat = true;
    if (isJoining) this.#takeKept();
    if (this.#isPlaced && draft.text === this.text.value) {
      this.#editedAt = Math.max(draft.editedAt, this.#editedAt);
      if (draft.scroll !== this.#position.scroll || draft.caret !== this.#caret) this.#post();
      // Words typed in this page outlive an empty draft of another viewer.
    } else if ((isJoining || this.text.value === '') && draft.editedAt >= this.#editedAt) {
      this.#set(draft, this.#position.anchor);
      this.#kept.keepDraft(this.#sessionId, this.draft);
    } else if (this.#editedAt > draft.editedAt) {
      this.#post();
    }
    if (stray !== '') {
      this.#setText(join(this.text.value, stray));
      this.#wordsChanged();
    }
    for (const { messageId } of this.pending.value) if (has(messageId)) this.arrived(messageId);
    // Sent by a page that is gone, maybe long ago: the user decides again. Each goes in front, so the last comes first.
    if (isJoining) for (const { messageId } of this.pending.value.toReversed()) this.giveBack(messageId);
    else if (isNewRuntime)
      for (const prompt of this.pending.value)
        this.#host.post({ type: 'send', ...prompt, evenUnsaved: false });
    this.#keep();
  }

  /** What an earlier page on this chat, or another panel, left in the storage. */
  #takeKept(): void {
    const draft = this.#kept.draft(this.#sessionId);
    if (draft !== null && draft.editedAt > this.#editedAt) this.#set(draft, this.#position.anchor);
    const known = new Set(this.pending.value.map(({ messageId }) => messageId));
    const more = this.#kept.prompts(this.#sessionId).filter(({ messageId }) => !known.has(messageId));
    if (more.length > 0) this.pending.value = [...more, ...this.pending.value];
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

  #wordsChanged(): void {
    this.#touch();
    this.#keep();
    this.#kept.keepDraft(this.#sessionId, this.draft);
    this.#post();
  }

  /** Words get no newer by being looked at: they may be older than those of another panel, or sent meanwhile. */
  #placeChanged(): void {
    this.#isPlaced = true;
    this.#keep();
    this.#post();
  }

  /** Always later than what the host can have made of the draft up to now, also when the clock was set back. */
  #touch(): void {
    this.#isPlaced = true;
    this.#editedAt = Math.max(Date.now(), this.#editedAt) + 1;
  }

  get #mayPost(): boolean {
    return this.#isSameChat && !this.#isReadOnly;
  }

  #post(): void {
    if (this.#mayPost) this.#host.post({ type: 'draft', draft: this.draft });
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

/** A compacted chat goes on under a new session id. */
function isSameChat(session: Session, sessionId: string): boolean {
  return session.id === sessionId || (session.edge === 'compaction' && session.parentId === sessionId);
}

function join(before: string, after: string): string {
  return before === '' || after === '' ? before + after : `${before}\n\n${after}`;
}
