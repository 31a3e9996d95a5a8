/** A chat of a store that is only read here: shown and followed by the mechanism of a mirror, with nothing to take over. */
import { emptyDraft, type Session } from '../session/model.ts';
import { UnknownSessionError } from '../store/errors.ts';
import { withContents } from '../store/messages.ts';
import { getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { ChatView } from './chatView.ts';
import { loadChat } from './loadChat.ts';
import { describeStoreProblem } from './problems.ts';
import { TranscriptFollowing } from './transcriptFollowing.ts';
import type { Viewer } from './viewer.ts';

export interface FollowedChatOptions {
  readonly store: Store;
  readonly sessionId: string;
  /** Names this showing of the chat to its viewers. */
  readonly runtimeId: string;
  /** Told when the chat's row changed (title, end), or the chat went on in another one. */
  readonly onChange: (session: Session) => void;
}

export class FollowedChat {
  readonly #options: FollowedChatOptions;
  readonly #view: ChatView;
  readonly #transcript: TranscriptFollowing;
  readonly #stopFollowing: () => void;

  /** Throws UnknownSessionError, ChatUnreadableError and other StoreErrors. */
  constructor(options: FollowedChatOptions) {
    this.#options = options;
    const { store, sessionId, runtimeId } = options;
    const chat = store.read((reader) => loadChat(reader, sessionId));
    if (chat === null) throw new UnknownSessionError(sessionId);
    this.#view = new ChatView({
      runtimeId,
      session: chat.session,
      messages: chat.messages,
      modelPicker: (modelId) => {
        const name = modelId ?? 'none';
        return { choices: [{ id: name, name, detail: '' }], selectedId: name, problem: null };
      },
      draft: () => emptyDraft,
      withContents: (messages) => store.read((reader) => messages.map((one) => withContents(reader, one))),
      folder: store.folder,
    });
    this.#transcript = new TranscriptFollowing({
      store,
      view: this.#view,
      onMoved: () => options.onChange(this.session),
    });
    this.#stopFollowing = store.onDidChange(() => this.#catchUp());
  }

  get session(): Session {
    return this.#view.session;
  }

  attach(viewer: Viewer): void {
    this.#view.attach(viewer);
  }

  loadOlder(viewer: Viewer, before: string): void {
    this.#view.loadOlder(viewer, before);
  }

  /** The chat is not shown any more; the store stays open. */
  dispose(): void {
    this.#stopFollowing();
    this.#view.dispose();
  }

  #catchUp(): void {
    const { store, sessionId, onChange } = this.#options;
    try {
      this.#transcript.catchUp();
      const session = store.read((reader) => getSession(reader, this.session.id));
      if (session === null) throw new UnknownSessionError(sessionId);
      if (JSON.stringify(session) === JSON.stringify(this.session)) return;
      this.#view.apply({ type: 'sessionChanged', session });
      onChange(session);
    } catch (error) {
      for (const viewer of this.#view.viewers)
        viewer.receive({ type: 'unavailable', problem: describeStoreProblem(error) });
    }
  }
}
