/**
 * The in-memory side of one open chat in one window: its transcript, the running turn, the viewers attached to it. It is
 * disposable: the chat is the row in the store, and losing a runtime loses at most the loss bound.
 *
 * Every change goes one way: event → reducer → recorder (store) and viewers. A prompt is durable before its request leaves.
 */
import { runTurn } from '../agent/turn.ts';
import type { ChatModel } from '../models/chatModel.ts';
import { offlineGuideId } from '../models/offlineGuide.ts';
import type { HostMessage, ModelPicker } from '../protocol/hostMessages.ts';
import { differences } from '../session/difference.ts';
import type { AgentEvent, ChatEvent } from '../session/events.ts';
import { makeMessage, type Draft, type Message, type Session } from '../session/model.ts';
import { toModelMessages } from '../session/projection.ts';
import { isEndedByUser, isRecoverable } from '../session/reasons.ts';
import { makeChatState, reduce, type ChatState } from '../session/reducer.ts';
import { firstWords } from '../session/text.ts';
import { isDeleted } from '../store/deletion.ts';
import { saveDraft } from '../store/drafts.ts';
import type { Lease } from '../store/leases.ts';
import { tipOf } from '../store/lineage.ts';
import { insertMessage, supersedeMessages } from '../store/messages.ts';
import { getSession, insertSession, reopenSession, updateSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { displayMessages } from '../store/transcript.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import type { Tool } from '../tools/tool.ts';
import { DraftKeeper } from './draftKeeper.ts';
import { loadChat } from './loadChat.ts';
import { Ownership } from './ownership.ts';
import {
  deletedError,
  describeStoreProblem,
  isRefusedForGood,
  mayBeSavedLater,
  RefusedError,
} from './problems.ts';
import { Recorder } from './recorder.ts';
import type { Timers } from './timers.ts';
import type { Viewer } from './viewer.ts';

/** How many of the newest messages a snapshot carries; older ones are paged in. */
const pageSize = 100;
/** How many of the newest messages a window that only follows compares with what it shows. */
const followedMessages = 30;
const titleLength = 60;
/** A turn that asks for tools more often than this is taken to go in circles. */
const maxSteps = 25;

export interface RuntimeServices {
  readonly store: Store;
  /** The model for a chat; one that is not available any more answers with an error that says so. */
  readonly model: (modelId: string | null) => ChatModel;
  readonly modelPicker: (modelId: string | null) => ModelPicker;
  readonly tools: () => readonly Tool[];
  readonly system: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly timers: Timers;
  readonly newId: () => string;
  /** Whether a window is still there; one of which that cannot be told counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
  /** Told after a change that lists or timers may care about (running, ended, titled). */
  readonly onChange: (runtime: ChatRuntime) => void;
  readonly log: (line: string) => void;
}

export interface LoadedChat {
  readonly session: Session;
  /** The transcript as shown: the whole lineage. */
  readonly messages: readonly Message[];
  readonly draft: Draft;
}

interface RunningTurn {
  readonly controller: AbortController;
  done: Promise<void>;
}

export class ChatRuntime {
  readonly id: string;
  readonly #services: RuntimeServices;
  readonly #recorder: Recorder;
  readonly #draft: DraftKeeper;
  readonly #ownership: Ownership;
  readonly #viewers = new Set<Viewer>();
  #state: ChatState;
  #seq = 0;
  #turn: RunningTurn | null = null;
  /** A prompt is being stored: no second one may overtake it. */
  #isStarting = false;
  #isFinalized = false;
  /** A panel showed it: cleanup never ends its row. */
  #isPanel = false;

  constructor(services: RuntimeServices, chat: LoadedChat) {
    this.id = services.newId();
    this.#services = services;
    this.#state = makeChatState(chat.session, chat.messages);
    this.#draft = new DraftKeeper(chat.draft, (draft) => this.#saveDraft(draft));
    const { store, now, isWindowAlive } = services;
    this.#ownership = new Ownership({ store, now, isWindowAlive, runtimeId: this.id });
    this.#recorder = new Recorder({
      write: (change) => this.#write(change),
      message: (id) => this.#state.messages.findLast((message) => message.id === id),
      onSaved: (ids) => this.#apply({ type: 'messagesSaved', ids: [...ids] }),
      onProblem: (problem) => this.#apply({ type: 'savingChanged', problem }),
      isFinal: (error) => this.#isRefused(error),
    });
    for (const message of chat.messages) this.#recorder.markStored(message);
    this.#lookAtOwner();
  }

  /** The session this runtime writes now: after a compaction the child, not what it was opened with. */
  get session(): Session {
    return this.#state.session;
  }

  get state(): ChatState {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#turn !== null || this.#isStarting;
  }

  get isFinalized(): boolean {
    return this.#isFinalized;
  }

  get isPanel(): boolean {
    return this.#isPanel;
  }

  get hasHistory(): boolean {
    return this.#state.messages.length > 0;
  }

  get viewers(): readonly Viewer[] {
    return [...this.#viewers];
  }

  /** Something of this chat is not on disk yet: the runtime must not be given back. */
  get hasUnwritten(): boolean {
    return this.#recorder.hasUnwritten && this.#state.owner === 'here';
  }

  get draft(): Draft {
    return this.#draft.current;
  }

  /** Adds a viewer and gives it the whole state; events follow. Attaching again sends a fresh snapshot. */
  attach(viewer: Viewer): void {
    this.#isPanel = true;
    this.#viewers.add(viewer);
    this.#sendSnapshot(viewer);
  }

  detach(viewer: Viewer): void {
    this.#viewers.delete(viewer);
  }

  /** Gives one viewer the page of messages before the oldest it has. */
  loadOlder(viewer: Viewer, before: string): void {
    const index = this.#state.messages.findIndex((message) => message.id === before);
    if (index < 0) return;
    const start = Math.max(0, index - pageSize);
    this.#send(viewer, {
      type: 'olderLoaded',
      messages: this.#state.messages.slice(start, index),
      hasOlder: start > 0,
    });
  }

  /**
   * Takes a prompt: durable first, then shown, then sent to the model. `messageId` comes from the page, so a repeated
   * send adds nothing. `evenUnsaved`: when it cannot be saved for a cause that can go away, it is sent all the same and saved
   * later. Rejects with a RefusedError or StoreError, and then nothing has changed.
   */
  async send(messageId: string, text: string, { evenUnsaved = false } = {}): Promise<void> {
    if (this.#state.messages.some((message) => message.id === messageId)) return;
    this.#refuseUnlessWritable();
    if (text.trim() === '') {
      throw new RefusedError('empty', 'There is nothing to send yet: type a message first.');
    }
    const now = this.#services.now();
    const message = this.#newMessage('user', messageId, { text, finishedAt: now });
    const titled = this.#titled(text);
    const draft = this.#draft.emptied(now);
    const modelId = this.#services.modelPicker(this.session.modelId).selectedId;
    await this.#starting(async () => {
      try {
        await this.#write((writer) => {
          insertMessage(writer, message);
          const stored = getSession(writer, this.session.id);
          // The user may have renamed it in another window since.
          if (titled !== null && stored?.titleSource === 'none')
            updateSession(writer, this.session.id, titled);
          // From here on the chat stays with its model, whatever becomes the default. The offline guide is only a stopgap.
          if (stored?.modelId === null && modelId !== offlineGuideId) {
            updateSession(writer, this.session.id, { modelId });
          }
          saveDraft(writer, { key: this.session.id, sessionId: this.session.id, draft });
        });
      } catch (error) {
        if (!evenUnsaved || !mayBeSavedLater(error)) throw error;
        this.#takeUnsaved(message, titled, draft);
        return;
      }
      this.#draft.stored(draft);
      this.#recorder.markStored(message);
      this.#apply({ type: 'messageAdded', message });
      this.#apply({ type: 'messagesSaved', ids: [message.id] });
      this.readSessionAgain();
    });
  }

  /** Stops the running answer and keeps its text. Resolves when all of it is stored, or waits to be. */
  async stop(): Promise<void> {
    if (this.#turn === null) return;
    this.#apply({ type: 'turnStopping' });
    this.#turn.controller.abort();
    await this.#turn.done;
  }

  /** Asks again for the last prompt: the failed or cut-off rows after it stay, folded, and are no longer sent to a model. */
  async retry(): Promise<void> {
    this.#refuseUnlessWritable();
    const after = this.#rowsAfterLastPrompt();
    if (after === null) throw new RefusedError('nothing_to_do', 'There is no prompt to send again.');
    const ids = after.filter((message) => message.active).map((message) => message.id);
    await this.#starting(async () => {
      if (ids.length === 0) return;
      await this.#write((writer) => supersedeMessages(writer, ids));
      this.#apply({ type: 'messagesSuperseded', ids });
      for (const message of this.#state.messages) {
        if (ids.includes(message.id)) this.#recorder.markStored(message);
      }
    });
  }

  /** Goes on with an answer that was cut off; the text so far stays and is sent along. */
  async continueAnswer(): Promise<void> {
    this.#refuseUnlessWritable();
    const last = this.#state.messages.findLast((message) => message.active);
    if (last === undefined || last.role === 'user') {
      throw new RefusedError('nothing_to_do', 'There is no answer to continue.');
    }
    await this.#starting(() => this.#write(() => undefined));
  }

  /**
   * **Take over here**: this window writes the chat from now on, and the one that did follows it. An answer that ran there is cut
   * off, its text kept. Rejects with a RefusedError or StoreError.
   */
  async takeOver(): Promise<void> {
    this.changedElsewhere(); // the other window may be done, or have compacted the chat
    this.#refuseIfArchived();
    if (this.#state.owner === 'here') return;
    await this.#ownership.takeOver(this.session.id);
    this.changedElsewhere();
    this.#services.onChange(this);
  }

  /** Chooses the chat's model; remembered with the chat once it is stored. */
  async selectModel(modelId: string): Promise<void> {
    this.#refuseIfArchived();
    this.#setSession({ ...this.session, modelId });
    await this.#services.store.write((writer) => {
      if (getSession(writer, this.session.id) !== null) updateSession(writer, this.session.id, { modelId });
    });
    this.modelsChanged();
  }

  setDraft(draft: Draft): void {
    this.#draft.set(draft);
  }

  /** What can be picked may have changed. */
  modelsChanged(): void {
    const message: HostMessage = { type: 'models', models: this.#services.modelPicker(this.session.modelId) };
    for (const viewer of this.#viewers) viewer.receive(message);
  }

  /** The store was changed by another window, or a window died: shows what is there now. */
  changedElsewhere(): void {
    this.readSessionAgain();
    this.#lookAtOwner();
    if (this.#isFinalized) return;
    const isLost = this.#services.store.read((reader) => this.#ownership.isLost(reader));
    if (this.isRunning) {
      if (isLost) this.#turn?.controller.abort(); // nothing that it still says would be stored
      return;
    }
    if (isLost) this.#ownership.forget();
    if (this.hasUnwritten) return; // what is only here must not be replaced by what is stored
    if (!this.#goOnAtTip()) this.#follow();
  }

  /** An answer is shown as running that nobody here gives. */
  get showsForeignStream(): boolean {
    return !this.isRunning && this.#state.messages.some((message) => message.status === 'streaming');
  }

  /** Reads the row again: the list, or another window, changed it. */
  readSessionAgain(): void {
    const session = this.#services.store.read((reader) => getSession(reader, this.session.id));
    if (session !== null) this.#setSession(session);
  }

  /** Writes all that waits: messages and draft. Failures are shown in the panel, not thrown. */
  async flush(): Promise<void> {
    await Promise.all([this.#recorder.flush(), this.#draft.flush()]);
  }

  /** A compaction made the child that the chat goes on in. */
  continueIn(session: Session, copies: readonly Message[], lease: Lease): void {
    this.#ownership.moved(lease);
    for (const message of copies) this.#recorder.markStored(message);
    this.#apply({ type: 'sessionChanged', session });
    for (const message of copies) this.#apply({ type: 'messageAdded', message });
    this.#apply({ type: 'messagesSaved', ids: copies.map((message) => message.id) });
    this.#services.onChange(this);
  }

  /** Proof that the chat may be compacted or the like: nothing runs, and we may write it. */
  refuseUnlessWritable(): void {
    this.#refuseUnlessWritable();
  }

  get lease(): Lease | null {
    return this.#ownership.lease;
  }

  /** Takes the lease if it is not held yet. */
  async own(): Promise<Lease> {
    await this.#write(() => undefined);
    const { lease } = this.#ownership;
    if (lease === null) throw new Error(`The lease of ${this.session.id} is not held after a write.`);
    return lease;
  }

  /** Marks it as being taken down; false if it was already. */
  beginFinalizing(): boolean {
    if (this.#isFinalized) return false;
    this.#isFinalized = true;
    return true;
  }

  /**
   * The first step of a teardown: stops a running turn as the user's Stop does. A turn that has not stopped after
   * `patienceMs` is abandoned: its text so far is kept as interrupted, and what it still says is ignored.
   */
  async interrupt(patienceMs: number): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return;
    turn.controller.abort();
    if (patienceMs > 0) {
      let cancel: () => void = () => undefined;
      const patience = new Promise<void>((resolve) => {
        cancel = this.#services.timers.after(patienceMs, resolve);
      });
      await Promise.race([turn.done, patience]);
      cancel();
    }
    if (this.#turn === turn) this.#abandonTurn();
  }

  /** Lets others write the chat. */
  release(): Promise<void> {
    return this.#ownership.release();
  }

  /** Stops timers and lets go of the viewers, who are told. The chat stays as it is in the store. */
  dispose(): void {
    this.#recorder.dispose();
    this.#draft.dispose();
    const viewers = [...this.#viewers];
    this.#viewers.clear();
    for (const viewer of viewers) viewer.reclaimed();
  }

  /** Runs what must be stored before a turn starts, then starts it; keeps a second start out meanwhile. */
  async #starting(store: () => Promise<void>): Promise<void> {
    this.#isStarting = true;
    try {
      await store();
    } finally {
      this.#isStarting = false;
    }
    if (this.#isFinalized) return; // stored, and shown as not answered when the chat is opened again
    this.#startTurn();
  }

  /** The prompt waits in memory like an answer whose write failed; a chat that is not stored yet gets its title with its row. */
  #takeUnsaved(message: Message, titled: { title: string; titleSource: 'auto' } | null, draft: Draft): void {
    if (titled !== null) this.#setSession({ ...this.session, ...titled });
    this.#draft.set(draft);
    this.#apply({ type: 'messageAdded', message });
    this.#recorder.changed([message.id]);
  }

  #startTurn(): void {
    const controller = new AbortController();
    const turnId = this.#services.newId();
    const turn: RunningTurn = { controller, done: Promise.resolve() };
    this.#turn = turn;
    const startedAt = this.#services.now();
    this.#apply({ type: 'turnStarted', turn: { id: turnId, startedAt, phase: 'waiting' } });
    turn.done = runTurn({
      turnId,
      sessionId: this.session.id,
      nextSeq: this.#nextSeq(),
      history: toModelMessages(this.#ownMessages()),
      system: this.#services.system(),
      model: this.#services.model(this.session.modelId),
      tools: this.#services.tools(),
      emit: (event) => {
        if (this.#turn === turn) this.#emit(event);
      },
      signal: controller.signal,
      newId: this.#services.newId,
      now: this.#services.now,
      maxSteps,
    }).then(async () => {
      await this.#recorder.flush();
      this.#followIfLost();
    });
    this.#services.onChange(this);
  }

  /** An event of the agent loop: applied, shown, and handed to the recorder. */
  #emit(event: AgentEvent): void {
    if (event.type === 'turnEnded') {
      // Whoever sees that the turn is over may start the next one at once, and sees what it changed of the session.
      this.#turn = null;
      this.#recorder.changed([]);
      this.readSessionAgain();
    }
    this.#apply(event);
    switch (event.type) {
      case 'textAppended':
      case 'reasoningAppended':
        this.#recorder.textAdded(event.id, event.text);
        break;
      case 'messageAdded':
        this.#recorder.changed([event.message.id]);
        break;
      case 'toolCallAdded':
      case 'messageFinished':
        this.#recorder.changed([event.id]);
        break;
      case 'turnEnded':
        this.#services.onChange(this);
        break;
    }
  }

  #abandonTurn(): void {
    const finishedAt = this.#services.now();
    for (const { id, status, usage } of this.#state.messages) {
      if (status !== 'streaming') continue;
      this.#emit({ type: 'messageFinished', id, status: 'interrupted', problem: null, usage, finishedAt });
    }
    this.#emit({ type: 'turnEnded', stopReason: 'stopped' });
  }

  /** Another window took the chat over in the middle of an answer: what it cut off here is not what is stored. */
  #followIfLost(): void {
    if (this.#isFinalized || this.isRunning) return;
    if (this.#services.store.read((reader) => this.#ownership.isLost(reader))) this.changedElsewhere();
  }

  /** Shows what the window that owns the chat has written. */
  #follow(): void {
    const { messages } = this.#state;
    const page = { limit: followedMessages };
    const newest = this.#services.store.read(
      (reader) => displayMessages(reader, this.session.id, page).messages,
    );
    const events = differences(messages, newest);
    if (events === null) {
      this.#loadAgain();
      return;
    }
    for (const event of events) this.#apply(event);
    for (const message of newest) this.#recorder.markStored(message);
  }

  /** Another window compacted the chat: it goes on in another row. False: it did not. */
  #goOnAtTip(): boolean {
    const tip = this.#services.store.read((reader) => tipOf(reader, this.session.id));
    if (tip === this.session.id) return false;
    this.#ownership.moved(null);
    this.#loadAgain();
    this.#lookAtOwner();
    this.#services.onChange(this);
    return true;
  }

  #loadAgain(): void {
    const chat = this.#services.store.read((reader) => loadChat(reader, this.session.id));
    if (chat === null) return;
    const { session, messages } = chat;
    this.#state = { ...this.#state, session, messages: [...messages], unsaved: [] };
    this.#seq += 1;
    for (const message of messages) this.#recorder.markStored(message);
    for (const viewer of this.#viewers) this.#sendSnapshot(viewer);
  }

  #lookAtOwner(): void {
    const isElsewhere = this.#services.store.read((reader) =>
      this.#ownership.isElsewhere(reader, this.session.id),
    );
    const owner = isElsewhere ? 'elsewhere' : 'here';
    if (owner !== this.#state.owner) this.#apply({ type: 'ownerChanged', owner });
  }

  /** A write was refused because the chat is not ours any more: nothing more of it is produced here. */
  #isRefused(error: unknown): boolean {
    if (!isRefusedForGood(error)) return false;
    this.#turn?.controller.abort();
    this.#lookAtOwner();
    this.readSessionAgain();
    return true;
  }

  #apply(event: ChatEvent): void {
    this.#state = reduce(this.#state, event);
    this.#seq += 1;
    for (const viewer of this.#viewers) this.#send(viewer, event);
  }

  #send(viewer: Viewer, event: ChatEvent): void {
    viewer.receive({ type: 'event', runtimeId: this.id, seq: this.#seq, event });
  }

  #sendSnapshot(viewer: Viewer): void {
    const { messages } = this.#state;
    const shown = messages.slice(-pageSize);
    viewer.receive({
      type: 'snapshot',
      runtimeId: this.id,
      seq: this.#seq,
      chat: { ...this.#state, messages: shown, hasOlder: shown.length < messages.length },
      draft: this.#draft.current,
      models: this.#services.modelPicker(this.session.modelId),
    });
  }

  /** A transaction of the owner; creates the session's row with the first one, and wakes one that cleanup had ended. */
  #write<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    const { id } = this.session;
    return this.#ownership.write(id, (writer) => {
      const stored = getSession(writer, id);
      if (stored === null) this.#insertSession(writer);
      else if (stored.endReason !== null && isRecoverable(stored.endReason)) reopenSession(writer, id);
      return change(writer);
    });
  }

  async #saveDraft(draft: Draft): Promise<boolean> {
    const { id } = this.session;
    try {
      const isNew = await this.#services.store.write((writer) => {
        const isStored = getSession(writer, id) !== null;
        if (!isStored && draft.text === '') return false; // scrolling an empty panel is no reason to keep a chat
        if (!isStored) this.#insertSession(writer);
        saveDraft(writer, { key: id, sessionId: id, draft });
        return !isStored;
      });
      if (isNew) this.readSessionAgain(); // it is a chat now, which its panel's route may name
      if (this.#state.savingProblem !== null && !this.#recorder.isFailing) {
        this.#apply({ type: 'savingChanged', problem: null });
      }
      return true;
    } catch (error) {
      this.#services.log(`draft of ${id} not saved: ${String(error)}`);
      this.#apply({ type: 'savingChanged', problem: describeStoreProblem(error) });
      return isRefusedForGood(error);
    }
  }

  /** The chat's first write. One that was deleted stays so, whoever still shows it. */
  #insertSession(writer: WriteTransaction): void {
    if (isDeleted(writer, this.session.id)) throw deletedError();
    insertSession(writer, this.session);
  }

  #setSession(session: Session): void {
    if (JSON.stringify(session) === JSON.stringify(this.session)) return;
    this.#apply({ type: 'sessionChanged', session });
    this.#services.onChange(this);
  }

  /** The changes that title an untitled chat after its prompt; null when it has a title. */
  #titled(text: string): { title: string; titleSource: 'auto' } | null {
    const title = firstWords(text, titleLength);
    return this.session.titleSource === 'none' && title !== '' ? { title, titleSource: 'auto' } : null;
  }

  /** The rows of the session that is written now: what a model is given. */
  #ownMessages(): readonly Message[] {
    return this.#state.messages.filter((message) => message.sessionId === this.session.id);
  }

  #rowsAfterLastPrompt(): readonly Message[] | null {
    const index = this.#state.messages.findLastIndex((message) => message.role === 'user');
    return index < 0 ? null : this.#state.messages.slice(index + 1);
  }

  #newMessage(role: Message['role'], id: string, overrides: Partial<Message>): Message {
    return makeMessage({
      id,
      sessionId: this.session.id,
      seq: this.#nextSeq(),
      role,
      createdAt: this.#services.now(),
      ...overrides,
    });
  }

  #nextSeq(): number {
    return (this.#ownMessages().at(-1)?.seq ?? 0) + 1;
  }

  #refuseUnlessWritable(): void {
    if (!this.isRunning) this.changedElsewhere(); // what others did until now comes first
    this.#refuseIfArchived();
    if (this.#state.owner === 'elsewhere') {
      throw new RefusedError('not_owned', 'This chat is open in another window, which is writing to it.');
    }
    if (this.isRunning) {
      throw new RefusedError(
        'running',
        'An answer is still running: stop it first, or wait until it is done.',
      );
    }
  }

  #refuseIfArchived(): void {
    const { endReason } = this.session;
    if (endReason !== null && isEndedByUser(endReason)) {
      throw new RefusedError('archived', 'This chat is archived: reopen it to go on.');
    }
  }
}
