/**
 * A chat as it is shown: its state, and the viewers that see every change of it. A change is an event; events are numbered, so
 * that a viewer notices when it has missed one.
 */
import { setImmediate as pause } from 'node:timers/promises';
import type { HostMessage, ModelPicker } from '../protocol/hostMessages.ts';
import type { ChatEvent } from '../session/events.ts';
import type { Draft, Message, Session } from '../session/model.ts';
import { makeChatState, reduce, type ChatState } from '../session/reducer.ts';
import { isSent } from '../session/projection.ts';
import type { Viewer } from './viewer.ts';

/** How many of the newest messages a snapshot carries at most; older ones are paged in. */
const pageSize = 100;
/** And how much text, in UTF-16 units, unless the newest message alone has more: all of it is rendered before any of it is seen. */
const firstPageLength = 30_000;
/** How much text an older page has, for which nobody waits. */
const olderPageLength = 100_000;

/** Milliseconds of reading at a time. */
const readBudget = 5;

export interface ChatViewOptions {
  readonly runtimeId: string;
  readonly session: Session;
  readonly messages: readonly Message[];
  readonly modelPicker: (modelId: string | null) => ModelPicker;
  readonly draft: () => Draft;
  /** The messages with their contents, where those were left in the store. */
  readonly withContents: (messages: readonly Message[]) => Message[];
  /** Where it is read from, read-only; absent: the window's own store. */
  readonly folder?: string;
}

export class ChatView {
  readonly #options: ChatViewOptions;
  readonly #viewers = new Set<Viewer>();
  #state: ChatState;
  #seq = 0;

  constructor(options: ChatViewOptions) {
    this.#options = options;
    this.#state = makeChatState(options.session, options.messages, options.folder);
  }

  get state(): ChatState {
    return this.#state;
  }

  get session(): Session {
    return this.#state.session;
  }

  get viewers(): readonly Viewer[] {
    return [...this.#viewers];
  }

  /** The rows of the session that is written now: what a model is given. */
  ownMessages(): readonly Message[] {
    return this.#state.messages.filter((message) => message.sessionId === this.session.id);
  }

  /** Null: there is no prompt. */
  rowsAfterLastPrompt(): readonly Message[] | null {
    const index = this.#state.messages.findLastIndex((message) => message.role === 'user');
    return index < 0 ? null : this.#state.messages.slice(index + 1);
  }

  /** Number of the session's next row. */
  nextSeq(): number {
    return (this.ownMessages().at(-1)?.seq ?? 0) + 1;
  }

  /** Adds a viewer and gives it the whole state; events follow. Attaching again sends a fresh snapshot. */
  attach(viewer: Viewer): void {
    this.#viewers.add(viewer);
    this.#sendSnapshot(viewer);
  }

  detach(viewer: Viewer): void {
    this.#viewers.delete(viewer);
  }

  /** Lets go of the viewers, who are told. */
  dispose(): void {
    const { viewers } = this;
    this.#viewers.clear();
    for (const viewer of viewers) viewer.reclaimed();
  }

  /** Gives one viewer the page of messages before the oldest it has. */
  loadOlder(viewer: Viewer, before: string): void {
    const index = this.#state.messages.findIndex((message) => message.id === before);
    if (index < 0) return;
    const messages = this.#pageBefore(index, olderPageLength);
    this.#send(viewer, { type: 'olderLoaded', messages, hasOlder: messages.length < index });
  }

  /** The rows of the session that a model is given, whole. A long chat is read in pieces, between which others have their turn. */
  async sentMessages(): Promise<Message[]> {
    const sent: Message[] = [];
    let since = performance.now();
    for (const message of this.ownMessages().filter(isSent)) {
      sent.push(...this.#options.withContents([message]));
      if (message.contents === 'here' || performance.now() - since < readBudget) continue;
      await pause();
      since = performance.now();
    }
    return sent;
  }

  /** What can be picked may have changed. */
  modelsChanged(): void {
    const message: HostMessage = { type: 'models', models: this.#options.modelPicker(this.session.modelId) };
    for (const viewer of this.#viewers) viewer.receive(message);
  }

  apply(event: ChatEvent): void {
    this.#state = reduce(this.#state, event);
    this.#seq += 1;
    for (const viewer of this.#viewers) this.#send(viewer, event);
  }

  /** Shows what was loaded in the place of what was shown. */
  replace(session: Session, messages: readonly Message[]): void {
    this.#state = { ...this.#state, session, messages: [...messages], unsaved: [] };
    this.#seq += 1;
    for (const viewer of this.#viewers) this.#sendSnapshot(viewer);
  }

  /** Only what is looked at is read. */
  #pageBefore(end: number, pageLength: number): Message[] {
    const page: Message[] = [];
    let length = 0;
    while (page.length < Math.min(pageSize, end)) {
      const next = this.#state.messages[end - page.length - 1];
      if (next === undefined) break;
      const [message = next] = this.#options.withContents([next]);
      length += lengthOf(message);
      if (length > pageLength && page.length > 0) break;
      page.unshift(message);
    }
    return page;
  }

  #send(viewer: Viewer, event: ChatEvent): void {
    viewer.receive({ type: 'event', runtimeId: this.#options.runtimeId, seq: this.#seq, event });
  }

  #sendSnapshot(viewer: Viewer): void {
    const { runtimeId, draft, modelPicker } = this.#options;
    const { messages } = this.#state;
    const shown = this.#pageBefore(messages.length, firstPageLength);
    viewer.receive({
      type: 'snapshot',
      runtimeId,
      seq: this.#seq,
      chat: { ...this.#state, messages: shown, hasOlder: shown.length < messages.length },
      draft: draft(),
      models: modelPicker(this.session.modelId),
    });
  }
}

function lengthOf({ text, reasoning, toolCalls }: Message): number {
  return toolCalls.reduce((sum, call) => sum + call.arguments.length, text.length + reasoning.length);
}
