/** A chat that another window writes: what it wrote is shown here, also when the chat goes on in another row. */
import { differences } from '../session/difference.ts';
import type { Fork } from '../session/events.ts';
import { forksOf } from '../store/forks.ts';
import { tipOf } from '../store/lineage.ts';
import { withContents } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import { displayMessages } from '../store/transcript.ts';
import type { ChatView } from './chatView.ts';
import { loadChat } from './loadChat.ts';
import type { Ownership } from './ownership.ts';
import type { Recorder } from './recorder.ts';

/** How many of the newest messages are compared with what is shown. */
const comparedMessages = 30;

export interface FollowingOptions {
  readonly store: Store;
  readonly view: ChatView;
  readonly ownership: Ownership;
  readonly recorder: Recorder;
  /** Told after the chat went on in another row. */
  readonly onMoved: () => void;
}

export class Following {
  readonly #options: FollowingOptions;

  /** The window that writes the chat; null: this one may. */
  #ownerWindow: string | null = null;

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /**
   * Whether nobody tells what becomes of the chat any more: the window that writes it has died, or what is shown as running is
   * given by none. Everything else that others do comes through the journal.
   */
  get isAbandoned(): boolean {
    const { ownership } = this.#options;
    return this.#ownerWindow === null ? this.#isLeftRunning : !ownership.isAlive(this.#ownerWindow);
  }

  /** The same at a glance, which can be had often: a window that a glance cannot tell of counts as alive. */
  get seemsAbandoned(): boolean {
    const { ownership } = this.#options;
    return this.#ownerWindow === null ? this.#isLeftRunning : !ownership.seemsAlive(this.#ownerWindow);
  }

  get #isLeftRunning(): boolean {
    return this.#options.view.state.messages.some((message) => message.status === 'streaming');
  }

  /** Shows whether another window writes the chat. */
  lookAtOwner(): void {
    const { store, view, ownership } = this.#options;
    this.#ownerWindow = store.read((reader) => ownership.ownerElsewhere(reader, view.session.id));
    const owner = this.#ownerWindow === null ? 'here' : 'elsewhere';
    if (owner !== view.state.owner) view.apply({ type: 'ownerChanged', owner });
  }

  /** Shows where branches part from the chat. */
  lookAtForks(): void {
    const { store, view } = this.#options;
    const places = store.read((reader) => forksOf(reader, view.session.id));
    const shown = view.state.messages.filter(({ copyOf }) => copyOf === null);
    const forks = places.map(({ after, chats, current }): Fork => {
      // What a tool gave is shown in the card of the message that asked for it.
      const last = shown.slice(0, after).findLast(({ role }) => role !== 'tool');
      return { after: last?.id ?? null, chats: [...chats], current };
    });
    if (JSON.stringify(forks) !== JSON.stringify(view.state.forks))
      view.apply({ type: 'forksChanged', forks });
  }

  /** Shows what is stored. Nothing may be here that is not stored: it would be replaced. */
  catchUp(): void {
    if (!this.#goOnAtTip()) this.#follow();
  }

  #follow(): void {
    const { store, view, recorder } = this.#options;
    const page = { limit: comparedMessages, contents: 'leave' } as const;
    const isKnown = new Set(
      view.state.messages.filter(({ status }) => status !== 'streaming').map(({ id }) => id),
    );
    const newest = store.read((reader) =>
      displayMessages(reader, view.session.id, page).messages.map((message) =>
        isKnown.has(message.id) ? message : withContents(reader, message),
      ),
    );
    const events = differences(view.state.messages, newest);
    if (events === null) {
      this.#loadAgain();
      return;
    }
    for (const event of events) view.apply(event);
    for (const message of newest) recorder.markStored(message);
  }

  /** Another window compacted the chat: it goes on in another row. False: it did not. */
  #goOnAtTip(): boolean {
    const { store, view, ownership, onMoved } = this.#options;
    const tip = store.read((reader) => tipOf(reader, view.session.id));
    if (tip === view.session.id) return false;
    ownership.moved(null);
    this.#loadAgain();
    this.lookAtOwner();
    onMoved();
    return true;
  }

  #loadAgain(): void {
    const { store, view, recorder } = this.#options;
    const chat = store.read((reader) => loadChat(reader, view.session.id));
    if (chat === null) return;
    for (const message of chat.messages) recorder.markStored(message);
    view.replace(chat.session, chat.messages);
  }
}
