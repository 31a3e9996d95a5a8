/**
 * The runtimes of one window: at most one per chat, made when something wants to show or write the chat, given back when
 * nothing shows it and nothing runs. Giving one back is cleanup: it never ends the chat.
 */
import { emptyDraft, makeSession, type Session } from '../session/model.ts';
import { getDraft } from '../store/drafts.ts';
import { listMessages } from '../store/messages.ts';
import { getSession } from '../store/sessions.ts';
import { ChatRuntime, type RuntimeServices } from './chatRuntime.ts';
import { RefusedError } from './problems.ts';
import type { Viewer } from './viewer.ts';

export interface NewChat {
  /** A ULID chosen by whoever asks, so that a reloaded panel of a chat never written keeps its id. */
  readonly id: string;
  readonly workspaceUri: string | null;
  readonly workspaceName: string | null;
  readonly modelId: string | null;
}

export class RuntimeRegistry {
  readonly #services: RuntimeServices;
  readonly #runtimes = new Map<string, ChatRuntime>();
  readonly #listeners = new Set<() => void>();
  readonly #stopFollowing: () => void;

  constructor(services: Omit<RuntimeServices, 'onChange'>) {
    this.#services = { ...services, onChange: (runtime) => this.#runtimeChanged(runtime) };
    this.#stopFollowing = services.store.onDidChange(({ origin }) => {
      if (origin === 'other')
        for (const runtime of this.#runtimes.values()) runtime.sessionChangedElsewhere();
      this.#announce();
    });
  }

  /** Told when the chats or their states may look different in a list. */
  onDidChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(sessionId: string): ChatRuntime | undefined {
    return this.#runtimes.get(sessionId);
  }

  isRunning(sessionId: string): boolean {
    return this.#runtimes.get(sessionId)?.isRunning ?? false;
  }

  /**
   * The runtime of a stored chat, loaded if need be. Throws a RefusedError when there is no such chat, and the store's
   * error when it cannot be read: never an empty chat in its place.
   */
  open(sessionId: string): ChatRuntime {
    const known = this.#runtimes.get(sessionId);
    if (known !== undefined) return known;
    const chat = this.#services.store.read((reader) => {
      const session = getSession(reader, sessionId);
      if (session === null) return null;
      return {
        session,
        messages: listMessages(reader, sessionId),
        draft: getDraft(reader, sessionId)?.draft ?? emptyDraft,
      };
    });
    if (chat === null) {
      throw new RefusedError(
        'not_found',
        'This chat is not in the store. It may have been deleted in another window.',
      );
    }
    return this.#add(new ChatRuntime(this.#services, chat));
  }

  /** The runtime of a new chat, or of the stored one with that id. Nothing is written until there is something to keep. */
  openOrCreate(chat: NewChat): ChatRuntime {
    const known = this.#runtimes.get(chat.id);
    if (known !== undefined) return known;
    const isStored = this.#services.store.read((reader) => getSession(reader, chat.id)) !== null;
    if (isStored) return this.open(chat.id);
    const session = makeSession({ ...chat, source: 'panel', createdAt: this.#services.now() });
    return this.#add(new ChatRuntime(this.#services, { session, messages: [], draft: emptyDraft }));
  }

  /** Archives a chat, whether or not it is open here. */
  async archive(sessionId: string): Promise<void> {
    const runtime = this.open(sessionId);
    await runtime.archive();
    this.#releaseIfUnused(runtime);
  }

  async reopen(sessionId: string): Promise<void> {
    const runtime = this.open(sessionId);
    await runtime.reopen();
    this.#releaseIfUnused(runtime);
  }

  /** A viewer is gone. The runtime goes on while an answer runs, and is given back afterwards. */
  async detach(runtime: ChatRuntime, viewer: Viewer): Promise<void> {
    runtime.detach(viewer);
    await runtime.flush();
    this.#releaseIfUnused(runtime);
  }

  /** The sessions whose answers run in this window. */
  runningSessions(): Session[] {
    return [...this.#runtimes.values()]
      .filter((runtime) => runtime.isRunning)
      .map((runtime) => runtime.session);
  }

  modelsChanged(): void {
    for (const runtime of this.#runtimes.values()) runtime.modelsChanged();
  }

  /** Writes what waits, as the window goes. Running answers are stopped without waiting; their text is kept. */
  async shutDown(): Promise<void> {
    this.#stopFollowing();
    for (const runtime of this.#runtimes.values()) void runtime.stop();
    await Promise.all([...this.#runtimes.values()].map((runtime) => runtime.flush()));
    await Promise.all([...this.#runtimes.values()].map((runtime) => runtime.releaseLease()));
    for (const runtime of this.#runtimes.values()) runtime.dispose();
    this.#runtimes.clear();
  }

  #add(runtime: ChatRuntime): ChatRuntime {
    this.#runtimes.set(runtime.session.id, runtime);
    return runtime;
  }

  #runtimeChanged(runtime: ChatRuntime): void {
    this.#releaseIfUnused(runtime);
    this.#announce();
  }

  #releaseIfUnused(runtime: ChatRuntime): void {
    if (runtime.viewerCount > 0 || runtime.isRunning || runtime.hasUnwritten) return;
    if (this.#runtimes.get(runtime.session.id) !== runtime) return;
    this.#runtimes.delete(runtime.session.id);
    runtime.dispose();
    runtime
      .releaseLease()
      .catch((error: unknown) => this.#services.log(`lease not released: ${String(error)}`));
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}
