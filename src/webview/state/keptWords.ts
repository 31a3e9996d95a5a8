/**
 * A second copy of words that are not sent or not taken yet, in the browser's storage, which all panels of the extension
 * share. A page's own state goes with its panel, and a dead host takes nothing: the panel that replaces this one on the
 * same chat finds the words here. Nothing stays once there is nothing to keep, or once the chat was deleted: whichever page is
 * there then, or comes next, forgets its words.
 */
import * as v from 'valibot';
import type { PendingPrompt } from '../../core/protocol/pageMessages.ts';
import { draftSchema, type Draft } from '../../core/session/model.ts';

const storedDraftSchema = v.pipe(v.string(), v.parseJson(), draftSchema);
/** Every key begins so; behind it are what is kept and the chat's id, in this order. */
const prefix = 'holdfast.';
const draftKey = (sessionId: string) => `${prefix}draft/${sessionId}`;
/** A key per prompt, so that panels on one chat never overwrite each other's. */
const promptPrefix = (sessionId: string) => `${prefix}prompt/${sessionId}/`;
/** A key per prompt that is being changed. */
const editPrefix = (sessionId: string) => `${prefix}edit/${sessionId}/`;

/** What was typed to be sent in the place of a prompt; `isOpen`: its box was not closed. */
const editSchema = v.object({ text: v.string(), isOpen: v.boolean() });
const storedEditSchema = v.pipe(v.string(), v.parseJson(), editSchema);
type KeptEdit = Readonly<v.InferOutput<typeof editSchema>>;

export class KeptWords {
  readonly #open: () => Storage;
  #hasReported = false;

  /** `open` may throw: a browser can forbid its storage. */
  constructor(open: () => Storage) {
    this.#open = open;
  }

  draft(sessionId: string): Draft | null {
    if (sessionId === '') return null;
    const stored = this.#try((storage) => storage.getItem(draftKey(sessionId)), null);
    const parsed = v.safeParse(storedDraftSchema, stored);
    return parsed.success ? parsed.output : null;
  }

  /** Keeps the draft, or forgets it when it has no words. */
  keepDraft(sessionId: string, draft: Draft): void {
    if (sessionId === '') return;
    this.#try((storage) => {
      if (draft.text === '') storage.removeItem(draftKey(sessionId));
      else storage.setItem(draftKey(sessionId), JSON.stringify(draft));
    }, undefined);
  }

  /** Oldest first. */
  prompts(sessionId: string): readonly PendingPrompt[] {
    if (sessionId === '') return [];
    return this.#entries(promptPrefix(sessionId)).map(([messageId, text]) => ({ messageId, text }));
  }

  keepPrompt(sessionId: string, { messageId, text }: PendingPrompt): void {
    if (sessionId === '') return;
    this.#try((storage) => storage.setItem(promptPrefix(sessionId) + messageId, text), undefined);
  }

  forgetPrompt(sessionId: string, messageId: string): void {
    if (sessionId === '') return;
    this.#try((storage) => storage.removeItem(promptPrefix(sessionId) + messageId), undefined);
  }

  edit(sessionId: string, messageId: string): KeptEdit | null {
    return this.edits(sessionId).get(messageId) ?? null;
  }

  /** By the id of the prompt. */
  edits(sessionId: string): ReadonlyMap<string, KeptEdit> {
    return new Map(
      this.#entries(editPrefix(sessionId)).flatMap(([messageId, stored]) => {
        const parsed = v.safeParse(storedEditSchema, stored);
        return parsed.success ? [[messageId, parsed.output] as const] : [];
      }),
    );
  }

  keepEdit(sessionId: string, messageId: string, edit: KeptEdit): void {
    this.#try(
      (storage) => storage.setItem(editPrefix(sessionId) + messageId, JSON.stringify(edit)),
      undefined,
    );
  }

  forgetEdit(sessionId: string, messageId: string): void {
    this.#try((storage) => storage.removeItem(editPrefix(sessionId) + messageId), undefined);
  }

  /** The chats of which something is kept. */
  chats(): readonly string[] {
    const ids = this.#entries(prefix).map(([key]) => key.split('/')[1] ?? '');
    return [...new Set(ids)];
  }

  /** Keeps nothing of the chat. */
  forget(sessionId: string): void {
    this.#try((storage) => {
      for (const [key] of this.#entries(prefix)) {
        if (key.split('/')[1] === sessionId) storage.removeItem(prefix + key);
      }
    }, undefined);
  }

  /** The chat goes on under another id. */
  move(from: string, to: string): void {
    const draft = this.draft(from);
    if (draft !== null) {
      if (draft.editedAt > (this.draft(to)?.editedAt ?? 0)) this.keepDraft(to, draft);
      this.keepDraft(from, { ...draft, text: '' });
    }
    for (const prompt of this.prompts(from)) {
      this.keepPrompt(to, prompt);
      this.forgetPrompt(from, prompt.messageId);
    }
    for (const [messageId, edit] of this.edits(from)) {
      this.keepEdit(to, messageId, edit);
      this.forgetEdit(from, messageId);
    }
  }

  /** What is stored below the prefix, by the rest of its keys, in their order. */
  #entries(prefix: string): readonly (readonly [string, string])[] {
    return this.#try((storage) => {
      const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
      return keys
        .filter((key) => key.startsWith(prefix))
        .sort()
        .map((key) => [key.slice(prefix.length), storage.getItem(key) ?? ''] as const);
    }, []);
  }

  /** Full or forbidden storage costs the second copy only, never the typing. */
  #try<Value>(action: (storage: Storage) => Value, otherwise: Value): Value {
    try {
      return action(this.#open());
    } catch (error) {
      if (!this.#hasReported) console.warn('Holdfast: the second copy of unsent words is not kept', error);
      this.#hasReported = true;
      return otherwise;
    }
  }
}
