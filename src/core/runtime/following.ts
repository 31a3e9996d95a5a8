/** A chat that other windows write as well: who may, what they wrote, and where branches part. */
import type { Fork } from '../session/events.ts';
import { forksOf } from '../store/forks.ts';
import type { Store } from '../store/store.ts';
import type { ChatView } from './chatView.ts';
import type { Ownership } from './ownership.ts';
import { TranscriptFollowing } from './transcriptFollowing.ts';

export interface FollowingOptions {
  readonly store: Store;
  readonly view: ChatView;
  readonly ownership: Ownership;
  /** Told after the chat went on in another row. */
  readonly onMoved: () => void;
}

export class Following {
  readonly #options: FollowingOptions;
  readonly #transcript: TranscriptFollowing;
  /** The window that writes the chat; null: this one may. */
  #ownerWindow: string | null = null;

  constructor(options: FollowingOptions) {
    this.#options = options;
    const { store, view, ownership, onMoved } = options;
    this.#transcript = new TranscriptFollowing({
      store,
      view,
      onMoved: () => {
        ownership.moved(null);
        this.lookAtOwner();
        onMoved();
      },
    });
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

  /** Shows as interrupted what a dead window was writing, now that this one has cut it off. */
  showCutOff(ids: readonly string[], finishedAt: number): void {
    const { view } = this.#options;
    const end = { status: 'interrupted', problem: null, usage: null, finishedAt } as const;
    for (const id of ids) view.apply({ type: 'messageFinished', id, ...end });
    view.apply({ type: 'messagesSaved', ids: [...ids] });
  }

  /** Shows what is stored. Nothing may be here that is not stored: it would be replaced. */
  catchUp(): void {
    this.#transcript.catchUp();
  }
}
