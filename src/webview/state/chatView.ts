/**
 * The chat as signals. The shared reducer makes the next state; this class tells exactly those signals that differ, so
 * that a token renders one message and nothing else.
 */
import { batch, signal, type Signal } from '@preact/signals';
import type { ChatEvent, Fork, Owner } from '../../core/session/events.ts';
import type { Message, Problem, Session } from '../../core/session/model.ts';
import { reduce, type ChatState } from '../../core/session/reducer.ts';
import { findResults, layOut, type TurnLayout } from './turns.ts';

export interface MessageView {
  readonly message: Signal<Message>;
  readonly isSaved: Signal<boolean>;
}

export class ChatView {
  readonly session = signal<Session | null>(null);
  readonly turns = signal<readonly TurnLayout[]>([]);
  /** Row ids by tool call id. */
  readonly results = signal<ReadonlyMap<string, string>>(new Map());
  readonly running = signal<ChatState['turn']>(null);
  readonly owner = signal<Owner>('here');
  readonly folder = signal<string | null>(null);
  readonly savingProblem = signal<Problem | null>(null);
  /** By the message after which chats part; null: the beginning of the chat. */
  readonly forks = signal<ReadonlyMap<string | null, Fork>>(new Map());
  readonly hasOlder = signal(false);
  /** The last row that counts: what Continue and Retry are about. */
  readonly lastActive = signal<Message | null>(null);
  readonly #views = new Map<string, MessageView>();
  #state: ChatState | null = null;

  get state(): ChatState | null {
    return this.#state;
  }

  view(id: string): MessageView | undefined {
    return this.#views.get(id);
  }

  /** Replaces the state. Older pages that were loaded stay where they join the new state without a hole. */
  replace(next: ChatState): void {
    this.#state = keepOlderPages(this.#state, next);
    this.#showAll(this.#state);
  }

  apply(event: ChatEvent): void {
    if (this.#state === null) return;
    const before = this.#state;
    const next = reduce(before, event);
    this.#state = next;
    batch(() => {
      switch (event.type) {
        case 'textAppended':
        case 'reasoningAppended':
        case 'toolCallAdded':
        case 'messageFinished':
          this.#showOne(next, event.id);
          break;
        case 'messagesSaved':
          for (const id of event.ids) this.#setSaved(id, true);
          break;
        case 'forksChanged':
          this.#showForks(next);
          break;
        case 'messageAdded':
        case 'messagesSuperseded':
        case 'olderLoaded':
          this.#showAll(next);
          break;
        default:
          break;
      }
      this.#showRest(next);
    });
  }

  #showOne(state: ChatState, id: string): void {
    const message = state.messages.findLast((candidate) => candidate.id === id);
    const view = this.#views.get(id);
    if (message === undefined || view === undefined) return;
    view.message.value = message;
    view.isSaved.value = false;
  }

  #showAll(state: ChatState): void {
    batch(() => {
      const unsaved = new Set(state.unsaved);
      for (const message of state.messages) {
        const view = this.#views.get(message.id);
        if (view === undefined) {
          const isSaved = !unsaved.has(message.id);
          this.#views.set(message.id, { message: signal(message), isSaved: signal(isSaved) });
        } else {
          view.message.value = message;
          view.isSaved.value = !unsaved.has(message.id);
        }
      }
      this.turns.value = layOut(state.messages, this.turns.value);
      this.results.value = findResults(state.messages);
      this.#showForks(state);
      this.#showRest(state);
    });
  }

  #showForks({ forks }: ChatState): void {
    this.forks.value = new Map(forks.map((fork) => [fork.after, fork]));
  }

  #showRest(state: ChatState): void {
    this.session.value = state.session;
    this.running.value = state.turn;
    this.owner.value = state.owner;
    this.folder.value = state.folder;
    this.savingProblem.value = state.savingProblem;
    this.hasOlder.value = state.hasOlder;
    this.lastActive.value = state.messages.findLast((message) => message.active) ?? null;
  }

  #setSaved(id: string, isSaved: boolean): void {
    const view = this.#views.get(id);
    if (view !== undefined) view.isSaved.value = isSaved;
  }
}

function keepOlderPages(before: ChatState | null, next: ChatState): ChatState {
  const first = next.messages[0];
  if (before === null || first === undefined || before.session.id !== next.session.id) return next;
  const joint = before.messages.findIndex((message) => message.id === first.id);
  if (joint <= 0) return next;
  return {
    ...next,
    messages: [...before.messages.slice(0, joint), ...next.messages],
    hasOlder: before.hasOlder,
  };
}
