/**
 * The runtimes of one window: at most one per chat. It gives them back when nothing shows them, when they idle, when there
 * are too many, and when the window goes. All of that is cleanup, and cleanup is not intent: it never ends a panel's chat.
 */
import { isAutomatic } from '../session/reasons.ts';
import { emptyDraft, makeSession, type EndReason, type Session, type Source } from '../session/model.ts';
import { deleteLineage, isDeleted, refuseForeignLease, type Deletion } from '../store/deletion.ts';
import { tipOf } from '../store/lineage.ts';
import { archiveLineage, reopenLineage } from '../store/lineageChanges.ts';
import { resetSession } from '../store/reset.ts';
import { getSession } from '../store/sessions.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import { ChatRuntime } from './chatRuntime.ts';
import { compactSession, prepareSummary } from './compaction.ts';
import { finalize } from './finalize.ts';
import type { LifecycleHooks } from './hooks.ts';
import { loadChat, type LoadedChat } from './loadChat.ts';
import type { MemoryProvider } from './memory.ts';
import { deletedError, messageOf, RefusedError } from './problems.ts';
import { recoverInterrupted } from './recovery.ts';
import { OwnerWatch } from './ownerWatch.ts';
import type { Rescue } from './rescue.ts';
import type { RuntimeServices } from './runtimeServices.ts';
import type { Viewer } from './viewer.ts';

export interface LifecycleLimits {
  /** How long a runtime that lost its viewers in the middle of something is kept, in milliseconds. */
  readonly graceMs: number;
  /** How long a runtime may do nothing, in milliseconds. */
  readonly idleMs: number;
  /** How many runtimes a window keeps. */
  readonly maximumRuntimes: number;
}

export const defaultLimits: LifecycleLimits = { graceMs: 20_000, idleMs: 30 * 60_000, maximumRuntimes: 20 };

export interface RegistryServices extends Omit<RuntimeServices, 'onChange'> {
  readonly hooks: LifecycleHooks;
  readonly memory: MemoryProvider;
  readonly rescue: Rescue;
  /** Read at each use, because settings change. */
  readonly limits: () => LifecycleLimits;
}

export interface NewChat {
  /** A ULID chosen by whoever asks, so that a reloaded panel of a chat never written keeps its id. */
  readonly id: string;
  readonly workspaceUri: string | null;
  readonly workspaceName: string | null;
  /** Null: the default, until the first prompt. */
  readonly modelId: string | null;
  /** Absent: `panel`. */
  readonly source?: Source;
  /** As the user would name it; absent: made from the first prompt. */
  readonly title?: string;
}

/** How a viewer went: `disposed` by the user, or `lost` (its renderer died). */
export type Departure = 'disposed' | 'lost';

interface Entry {
  readonly runtime: ChatRuntime;
  /** Monotonic time of the last use, in milliseconds. */
  usedAt: number;
  /** The pending grace timer; a timer that fires looks whether it is still this one. */
  grace: object | null;
  cancelGrace: () => void;
  cancelIdle: () => void;
  /** Set while it is taken down. */
  finalizing: Promise<void> | null;
}

export class RuntimeRegistry {
  readonly #services: RuntimeServices;
  readonly #lifecycle: RegistryServices;
  readonly #entries = new Set<Entry>();
  readonly #listeners = new Set<() => void>();
  readonly #stopFollowing: () => void;
  readonly #ownerWatch: OwnerWatch;
  #isShutDown = false;

  constructor(services: RegistryServices) {
    this.#lifecycle = services;
    this.#services = { ...services, onChange: (runtime) => this.#runtimeChanged(runtime) };
    this.#ownerWatch = new OwnerWatch({
      timers: services.timers,
      runtimes: () => [...this.#entries].map(({ runtime }) => runtime),
      onAbandoned: () => void this.#recoverAbandoned(),
    });
    this.#stopFollowing = services.store.onDidChange(({ origin }) => {
      if (origin === 'other') this.#changedElsewhere();
      this.#announce();
    });
  }

  /** Told when the chats or their states may look different in a list. */
  onDidChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(sessionId: string): ChatRuntime | undefined {
    return this.#entryOf(sessionId)?.runtime;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The sessions whose answers run in this window. */
  runningSessions(): Session[] {
    return [...this.#entries].flatMap(({ runtime }) => (runtime.isRunning ? [runtime.session] : []));
  }

  /** Whether something of the chat could not be saved and is in memory only. */
  isUnsaved(sessionId: string): boolean {
    return (this.get(sessionId)?.savingProblem ?? null) !== null;
  }

  isRunning(sessionId: string): boolean {
    return this.get(sessionId)?.isRunning ?? false;
  }

  /**
   * The runtime of a stored chat, loaded if need be; any row of a chat's lineage leads to its tip. Rejects with a
   * RefusedError when there is no such chat, and with the store's error when it cannot be read: never an empty chat in its
   * place.
   */
  async open(sessionId: string): Promise<ChatRuntime> {
    const known = await this.#settled(sessionId);
    if (known !== null) return known;
    const chat = await this.#load(sessionId);
    // Nothing may come between this look and the adding: a chat has one runtime, however many ask for it at once.
    if (this.#entryOf(sessionId) !== undefined) return this.open(sessionId);
    if (chat === null) {
      if (this.#services.store.read((reader) => isDeleted(reader, sessionId))) throw deletedError();
      throw new RefusedError(
        'not_found',
        'This chat is not in the store. It may have been deleted in another window.',
      );
    }
    return this.#add(new ChatRuntime(this.#services, chat));
  }

  /** The runtime of a new chat, or of the stored one with that id. Nothing is written until there is something to keep. */
  async openOrCreate(chat: NewChat): Promise<ChatRuntime> {
    const known = await this.#settled(chat.id);
    if (known !== null) return known;
    const isStored = this.#services.store.read((reader) => getSession(reader, chat.id)) !== null;
    const wasDeleted = this.#services.store.read((reader) => isDeleted(reader, chat.id));
    if (isStored || wasDeleted) return this.open(chat.id);
    if (this.#entryOf(chat.id) !== undefined) return this.openOrCreate(chat);
    const session = sessionOf(chat, this.#services.now());
    return this.#add(new ChatRuntime(this.#services, { session, messages: [], draft: emptyDraft }));
  }

  /** Shows the runtime in a viewer. Every attaching cancels the grace timer. */
  attach(runtime: ChatRuntime, viewer: Viewer): void {
    const entry = this.#entryFor(runtime);
    if (entry !== null) {
      this.#stopGrace(entry);
      this.#used(entry);
    }
    runtime.attach(viewer);
  }

  /** A viewer is gone. A running answer goes on and is stored; what comes of the runtime is decided when nothing shows it. */
  async detach(runtime: ChatRuntime, viewer: Viewer, departure: Departure): Promise<void> {
    runtime.detach(viewer);
    const entry = this.#entryFor(runtime);
    if (entry === null || runtime.viewers.length > 0) return;
    if (departure === 'disposed' && !runtime.isRunning) await this.#reclaim(entry, 'panel_closed');
    else if (!runtime.isRunning) this.#startGrace(entry);
  }

  /** Something was done with the chat: it is not idle. */
  used(runtime: ChatRuntime): void {
    const entry = this.#entryFor(runtime);
    if (entry !== null) this.#used(entry);
  }

  /** Ends a chat because the user said so, open here or not, whoever else has it open. Its viewers then show it read-only. */
  async archive(sessionId: string): Promise<void> {
    this.#refuseUnlessStored(sessionId);
    const runtime = await this.open(sessionId);
    await refuseWhileUnsaved(runtime);
    const entry = this.#entryFor(runtime);
    if (entry !== null) await this.#finalize(entry, 'archived');
    // Once more, which changes nothing as a rule: a failure of the teardown's step is contained, and the user must learn of it.
    await this.#services.store.write((writer) =>
      archiveLineage(writer, runtime.session.id, this.#services.now()),
    );
  }

  /**
   * **Archive and Start New**: ends the chat and fences the place against it, in one transaction with the new chat that the
   * place shows from then on. Resolves to the new session.
   */
  async archiveAndStartNew(sessionId: string, origin: string, newChat: NewChat): Promise<Session> {
    this.#refuseUnlessStored(sessionId);
    const runtime = await this.open(sessionId);
    await refuseWhileUnsaved(runtime);
    const entry = this.#entryFor(runtime);
    const now = this.#services.now();
    const newSession = sessionOf(newChat, now);
    const end = (writer: WriteTransaction): void => {
      const keep = runtime.lease;
      resetSession(writer, { sessionId: runtime.session.id, origin, now, newSession, keep });
    };
    if (entry !== null) await this.#finalize(entry, 'session_reset', end);
    const created = this.#services.store.read((reader) => getSession(reader, newChat.id));
    if (created !== null) return created;
    // Containing its failure is the teardown's duty; here the user must learn of it.
    await this.#services.store.write(end);
    return newSession;
  }

  /**
   * `/compact`: the chat goes on in a child row that starts with a summary. Rejects with a RefusedError while an answer runs
   * or when there is too little to summarise; then the chat is as it was.
   */
  async compact(sessionId: string): Promise<void> {
    const { store, newId, now, log } = this.#services;
    const runtime = await this.open(sessionId);
    runtime.refuseUnlessWritable();
    await runtime.flush();
    const lease = await runtime.own();
    const childId = newId();
    const parentId = runtime.session.id;
    const prepared = await prepareSummary(store, parentId);
    const compacted = await store.write((writer) =>
      compactSession(writer, { sessionId: parentId, lease, childId, newId, now: now(), prepared }),
    );
    runtime.continueIn(compacted.session, compacted.messages, compacted.lease);
    try {
      await this.#lifecycle.memory.commit(childId, true);
    } catch (error) {
      log(`memory of ${childId} not kept: ${messageOf(error)}`);
    }
  }

  /**
   * **Delete Permanently**: removes the chat from the store; its viewers are told. Does nothing if it is gone already. Rejects
   * with a RefusedError while an answer runs, and with SessionNotOwnedError while another live window has it open for writing.
   * What was deleted leaves the files with `store.purge()`.
   */
  async delete(sessionId: string): Promise<void> {
    const { store } = this.#services;
    const runtime = await this.#settled(sessionId);
    const deletion = this.refuseDeletion(sessionId);
    const entry = runtime === null ? null : this.#entryFor(runtime);
    const end = (writer: WriteTransaction): void => deleteLineage(writer, deletion);
    if (entry !== null) await this.#finalize(entry, 'archived', end, null);
    // The step that ends the row may have failed and was contained; here the user must learn of it.
    if (store.read((reader) => getSession(reader, sessionId)) !== null) await store.write(end);
    this.lookAtForks();
  }

  /** Throws what `delete` would reject with at this moment. */
  refuseDeletion(sessionId: string): Deletion {
    const { store, isWindowAlive } = this.#services;
    if (this.isRunning(sessionId)) {
      throw new RefusedError('running', 'An answer is still running: stop it first, then delete the chat.');
    }
    const isOtherAlive = (id: string): boolean => id !== store.windowId && isWindowAlive(id);
    const deletion = { sessionId, isOtherAlive };
    store.read((reader) => refuseForeignLease(reader, deletion));
    return deletion;
  }

  /** Opens an archived chat for writing again, under the same id. */
  async reopen(sessionId: string): Promise<void> {
    await this.#services.store.write((writer) => reopenLineage(writer, sessionId));
    this.get(sessionId)?.readSessionAgain();
  }

  /** A branch was made or deleted in this window. */
  lookAtForks(): void {
    for (const { runtime } of this.#entries) runtime.lookAtForks();
  }

  modelsChanged(): void {
    for (const { runtime } of this.#entries) runtime.modelsChanged();
  }

  /** The window goes: writes what waits. Running answers are stopped without waiting; their text so far is kept. */
  async shutDown(): Promise<void> {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#services.store.lastWords();
    this.#stopFollowing();
    this.#ownerWatch.stop();
    await Promise.all([...this.#entries].map((entry) => this.#finalize(entry, 'host_shutdown')));
  }

  /** Cleanup of one runtime, unless it is needed after all. What could not be saved is never dropped: it is kept and tried again. */
  async #reclaim(entry: Entry, reason: EndReason): Promise<void> {
    const { runtime } = entry;
    await runtime.flush();
    if (entry.finalizing !== null || !this.#entries.has(entry)) return;
    const isWanted =
      reason === 'panel_closed' || reason === 'orphan_reap' ? runtime.viewers.length > 0 : false;
    if (isWanted || this.#isExempt(runtime)) {
      if (runtime.viewers.length === 0 && !runtime.isRunning) this.#startGrace(entry);
      return;
    }
    await this.#finalize(entry, reason);
  }

  #finalize(
    entry: Entry,
    reason: EndReason,
    end?: (writer: WriteTransaction) => void,
    rescue: Rescue | null = this.#lifecycle.rescue,
  ): Promise<void> {
    if (entry.finalizing !== null && isAutomatic(reason)) return entry.finalizing;
    const { store, now, log, timers, isWindowAlive } = this.#services;
    const { hooks, memory } = this.#lifecycle;
    this.#stopGrace(entry);
    entry.cancelIdle();
    entry.finalizing = finalize(entry.runtime, reason, {
      store,
      hooks,
      memory,
      now,
      log,
      timers,
      rescue,
      isWindowAlive,
      ...(end === undefined ? {} : { end }),
      remove: () => this.#entries.delete(entry),
    }).then(() => this.#announce());
    return entry.finalizing;
  }

  /** Never idle, never evicted: it works, it is seen, or it holds words that are nowhere else. */
  #isExempt(runtime: ChatRuntime): boolean {
    return runtime.isRunning || runtime.hasUnwritten || runtime.viewers.some((viewer) => viewer.isVisible());
  }

  #add(runtime: ChatRuntime): ChatRuntime {
    const entry: Entry = {
      runtime,
      usedAt: 0,
      grace: null,
      cancelGrace: () => undefined,
      cancelIdle: () => undefined,
      finalizing: null,
    };
    this.#entries.add(entry);
    this.#used(entry);
    this.#evict(entry);
    this.#ownerWatch.start();
    return runtime;
  }

  /** An answer that a dead window was writing is found here, too, not only at the start of a window. */
  async #load(sessionId: string): Promise<LoadedChat | null> {
    const { store, isWindowAlive, now } = this.#services;
    const load = (): LoadedChat | null => store.read((reader) => loadChat(reader, sessionId));
    const chat = load();
    if (chat?.messages.some(({ status }) => status === 'streaming') !== true) return chat;
    try {
      await recoverInterrupted(store, isWindowAlive, now());
    } catch (error) {
      this.#services.log(`answers of dead windows could not be marked: ${messageOf(error)}`);
      return chat; // what cannot be written can be read
    }
    return load();
  }

  #refuseUnlessStored(sessionId: string): void {
    const isStored = this.#services.store.read((reader) => getSession(reader, sessionId)) !== null;
    if (isStored) return;
    throw new RefusedError('nothing_to_do', 'There is nothing to archive yet: this chat is empty.');
  }

  /** The known runtime of a chat; one that is just taken down is waited for, and then it is not known any more. */
  async #settled(sessionId: string): Promise<ChatRuntime | null> {
    for (;;) {
      const entry = this.#entryOf(sessionId);
      if (entry === undefined) return null;
      if (entry.finalizing === null) {
        this.#used(entry);
        return entry.runtime;
      }
      await entry.finalizing;
    }
  }

  #used(entry: Entry): void {
    const { timers } = this.#services;
    entry.usedAt = timers.now();
    entry.cancelIdle();
    entry.cancelIdle = timers.after(this.#lifecycle.limits().idleMs, () => {
      if (this.#isExempt(entry.runtime)) this.#used(entry);
      else void this.#reclaim(entry, 'idle_timeout');
    });
  }

  /** Gives back the runtimes that were not used for longest, until there are not too many. */
  #evict(newest: Entry): void {
    const excess = this.#entries.size - this.#lifecycle.limits().maximumRuntimes;
    if (excess <= 0) return;
    const candidates = [...this.#entries]
      .filter((entry) => entry !== newest && entry.finalizing === null && !this.#isExempt(entry.runtime))
      .sort((one, other) => one.usedAt - other.usedAt);
    for (const entry of candidates.slice(0, excess)) void this.#reclaim(entry, 'lru_evict');
  }

  #startGrace(entry: Entry): void {
    this.#stopGrace(entry);
    const grace = {};
    entry.grace = grace;
    entry.cancelGrace = this.#services.timers.after(this.#lifecycle.limits().graceMs, () => {
      if (entry.grace !== grace) return;
      entry.grace = null; // spent: if the runtime is needed now, the next time starts when it is not
      void this.#reclaim(entry, 'orphan_reap');
    });
  }

  #stopGrace(entry: Entry): void {
    entry.grace = null;
    entry.cancelGrace();
  }

  #runtimeChanged(runtime: ChatRuntime): void {
    const entry = this.#entryFor(runtime);
    if (entry !== null && entry.finalizing === null) {
      this.#used(entry);
      if (!runtime.isRunning && runtime.viewers.length === 0 && entry.grace === null) this.#startGrace(entry);
    }
    this.#announce();
  }

  #changedElsewhere(): void {
    for (const { runtime, finalizing } of this.#entries) {
      if (finalizing !== null) continue;
      try {
        runtime.changedElsewhere();
      } catch (error) {
        this.#services.log(`chat ${runtime.session.id} cannot follow: ${messageOf(error)}`);
      }
    }
    this.#ownerWatch.start();
  }

  /** The window that wrote a chat has died, or nobody goes on with an answer. */
  async #recoverAbandoned(): Promise<void> {
    const { store, isWindowAlive, now, log } = this.#services;
    try {
      await recoverInterrupted(store, isWindowAlive, now());
    } catch (error) {
      log(`answers of dead windows could not be marked: ${messageOf(error)}`);
    }
    if (!this.#isShutDown) this.#changedElsewhere();
  }

  #entryOf(sessionId: string): Entry | undefined {
    const find = (id: string) => [...this.#entries].find(({ runtime }) => runtime.session.id === id);
    return find(sessionId) ?? find(this.#tip(sessionId));
  }

  /** An id that is not stored is its own tip. */
  #tip(sessionId: string): string {
    return this.#services.store.read((reader) => tipOf(reader, sessionId));
  }

  #entryFor(runtime: ChatRuntime): Entry | null {
    return [...this.#entries].find((entry) => entry.runtime === runtime) ?? null;
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

function sessionOf({ source = 'panel', title, ...chat }: NewChat, createdAt: number): Session {
  const titled = title === undefined ? {} : { title, titleSource: 'user' as const };
  return makeSession({ ...chat, ...titled, source, createdAt });
}

/** What is in memory only would go with the runtime. Throws a RefusedError. */
async function refuseWhileUnsaved(runtime: ChatRuntime): Promise<void> {
  if (runtime.savingProblem === null) return;
  await runtime.flush();
  const problem = runtime.savingProblem;
  if (problem === null) return;
  throw new RefusedError('not_saved', `Something of this chat is not saved yet. ${problem.message}`);
}
