/** A transcript that somebody else writes: what is stored is shown here, also when the chat goes on in another row. */
import { differences } from '../session/difference.ts';
import { tipOf } from '../store/lineage.ts';
import { withContents } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import { displayMessages } from '../store/transcript.ts';
import type { ChatView } from './chatView.ts';
import { loadChat } from './loadChat.ts';

/** How many of the newest messages are compared with what is shown. */
const comparedMessages = 30;

export interface TranscriptFollowingOptions {
  readonly store: Store;
  readonly view: ChatView;
  /** Told after the chat went on in another row. */
  readonly onMoved: () => void;
}

export class TranscriptFollowing {
  readonly #options: TranscriptFollowingOptions;

  constructor(options: TranscriptFollowingOptions) {
    this.#options = options;
  }

  /** Shows what is stored. Nothing may be here that is not stored: it would be replaced. */
  catchUp(): void {
    const { store, view, onMoved } = this.#options;
    const tip = store.read((reader) => tipOf(reader, view.session.id));
    if (tip === view.session.id) {
      this.#follow();
      return;
    }
    // Another window compacted the chat: it goes on in another row.
    this.#loadAgain();
    onMoved();
  }

  #follow(): void {
    const { store, view } = this.#options;
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
  }

  #loadAgain(): void {
    const { store, view } = this.#options;
    const chat = store.read((reader) => loadChat(reader, view.session.id));
    if (chat !== null) view.replace(chat.session, chat.messages);
  }
}
