/**
 * The in-memory side of one open chat in one window: its transcript, the running turn, the viewers attached to it. It is
 * disposable: the chat is the row in the store, and losing a runtime loses at most the loss bound.
 *
 * Every change goes one way: event → reducer → recorder (store) and viewers. A prompt is durable before its request leaves.
 */
import { runTurn } from '../agent/turn.ts';
import type { ChatModel } from '../models/chatModel.ts';
import type { HostMessage, ModelPicker } from '../protocol/hostMessages.ts';
import type { AgentEvent, ChatEvent } from '../session/events.ts';
import { makeMessage, type Draft, type Message, type Session } from '../session/model.ts';
import { toModelMessages } from '../session/projection.ts';
import { isEndedByUser } from '../session/reasons.ts';
import { makeChatState, reduce, type ChatState } from '../session/reducer.ts';
import { firstWords } from '../session/text.ts';
import { saveDraft } from '../store/drafts.ts';
import { acquireLease, guardLease, releaseLease, type Lease } from '../store/leases.ts';
import { insertMessage, supersedeMessages } from '../store/messages.ts';
import { endSession, getSession, insertSession, reopenSession, updateSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import type { Tool } from '../tools/tool.ts';
import { DraftKeeper } from './draftKeeper.ts';
import { describeStoreProblem, RefusedError } from './problems.ts';
import { Recorder } from './recorder.ts';
import type { Viewer } from './viewer.ts';

/** How many of the newest messages a snapshot carries; older ones are paged in. */
const pageSize = 100;
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
  readonly now: () => number;
  readonly newId: () => string;
  /** Whether a window is still there; one of which that cannot be told counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
  /** Told after a change that lists may show (running, ended, titled). */
  readonly onChange: (runtime: ChatRuntime) => void;
  readonly log: (line: string) => void;
}

export interface LoadedChat {
  readonly session: Session;
  readonly messages: readonly Message[];
  readonly draft: Draft;
}

interface RunningTurn {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

export class ChatRuntime {
  readonly id: string;
  readonly #services: RuntimeServices;
  readonly #recorder: Recorder;
  readonly #draft: DraftKeeper;
  readonly #viewers = new Set<Viewer>();
  #state: ChatState;
  #seq = 0;
  #turn: RunningTurn | null = null;
  /** A prompt is being stored: no second one may overtake it. */
  #isStarting = false;
  /** Proof that this runtime may write its session; taken with the first write, not by looking. */
  #lease: Lease | null = null;

  constructor(services: RuntimeServices, chat: LoadedChat) {
    this.id = services.newId();
    this.#services = services;
    this.#state = makeChatState(chat.session, chat.messages);
    this.#draft = new DraftKeeper(chat.draft, (draft) => this.#saveDraft(draft));
    this.#recorder = new Recorder({
      write: (change) => this.#write(change),
      message: (id) => this.#state.messages.findLast((message) => message.id === id),
      onSaved: (ids) => this.#apply({ type: 'messagesSaved', ids: [...ids] }),
      onProblem: (problem) => this.#apply({ type: 'savingChanged', problem }),
    });
    for (const message of chat.messages) this.#recorder.markStored(message);
  }

  /** The session this runtime writes now. */
  get session(): Session {
    return this.#state.session;
  }

  get state(): ChatState {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#turn !== null;
  }

  get viewerCount(): number {
    return this.#viewers.size;
  }

  /** Something of this chat is not on disk yet: the runtime must not be given back. */
  get hasUnwritten(): boolean {
    return this.#recorder.hasUnwritten;
  }

  get draft(): Draft {
    return this.#draft.current;
  }

  /** Adds a viewer and gives it the whole state; events follow. Attaching again sends a fresh snapshot. */
  attach(viewer: Viewer): void {
    this.#viewers.add(viewer);
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
   * send adds nothing. Rejects with a RefusedError or StoreError, and then nothing has changed.
   */
  async send(messageId: string, text: string): Promise<void> {
    if (this.#state.messages.some((message) => message.id === messageId)) return;
    this.#refuseUnlessWritable();
    if (text.trim() === '')
      throw new RefusedError('empty', 'There is nothing to send yet: type a message first.');
    const message = this.#newMessage('user', messageId, { text, finishedAt: this.#services.now() });
    const titled = this.#titled(text);
    const draft = this.#draft.emptied(this.#services.now());
    await this.#starting(async () => {
      await this.#write((writer) => {
        insertMessage(writer, message);
        if (titled !== null) updateSession(writer, this.session.id, titled);
        saveDraft(writer, { key: this.session.id, sessionId: this.session.id, draft });
      });
      this.#draft.stored(draft);
      this.#recorder.markStored(message);
      this.#apply({ type: 'messageAdded', message });
      this.#apply({ type: 'messagesSaved', ids: [message.id] });
      this.#readSessionAgain();
    });
  }

  /** Stops the running answer and keeps its text. Resolves when every row has its final status in memory. */
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
      await this.#write((writer) => {
        supersedeMessages(writer, ids);
      });
      this.#apply({ type: 'messagesSuperseded', ids });
      for (const message of this.#state.messages)
        if (ids.includes(message.id)) this.#recorder.markStored(message);
    });
  }

  /** Goes on with an answer that was cut off; the text so far stays and is sent along. */
  async continueAnswer(): Promise<void> {
    this.#refuseUnlessWritable();
    const last = this.#state.messages.findLast((message) => message.active);
    if (last === undefined || last.role === 'user') {
      throw new RefusedError('nothing_to_do', 'There is no answer to continue.');
    }
    this.#startTurn();
  }

  /** Ends the chat: the only thing that does. A running answer is stopped first and its text kept. */
  async archive(): Promise<void> {
    await this.stop();
    await this.flush();
    await this.#services.store.write((writer) => {
      if (getSession(writer, this.session.id) === null) insertSession(writer, this.session);
      endSession(writer, this.session.id, 'archived', this.#services.now());
    });
    this.#readSessionAgain();
  }

  async reopen(): Promise<void> {
    await this.#services.store.write((writer) => reopenSession(writer, this.session.id));
    this.#readSessionAgain();
  }

  /** Chooses the chat's model; remembered with the chat once it is stored. */
  async selectModel(modelId: string): Promise<void> {
    this.#refuseIfArchived();
    this.#setSession({ ...this.session, modelId });
    await this.#services.store.write((writer) => {
      if (getSession(writer, this.session.id) !== null) updateSession(writer, this.session.id, { modelId });
    });
    this.#sendModels();
  }

  setDraft(draft: Draft): void {
    this.#draft.set(draft);
  }

  /** Settings changed: what can be picked may have too. */
  modelsChanged(): void {
    this.#sendModels();
  }

  /** Reads the row again: another panel, window or the list changed it. */
  sessionChangedElsewhere(): void {
    this.#readSessionAgain();
  }

  /** Writes all that waits: messages and draft. Failures are shown in the panel, not thrown. */
  async flush(): Promise<void> {
    await Promise.all([this.#recorder.flush(), this.#draft.flush()]);
  }

  /** Lets others write the chat. */
  async releaseLease(): Promise<void> {
    const lease = this.#lease;
    if (lease === null) return;
    this.#lease = null;
    await this.#services.store.write((writer) => releaseLease(writer, lease));
  }

  /** Stops timers. The chat stays as it is in the store. */
  dispose(): void {
    this.#recorder.dispose();
    this.#draft.dispose();
    this.#viewers.clear();
  }

  /** Runs what must be stored before a turn starts, then starts it; keeps a second start out meanwhile. */
  async #starting(store: () => Promise<void>): Promise<void> {
    this.#isStarting = true;
    try {
      await store();
    } finally {
      this.#isStarting = false;
    }
    this.#startTurn();
  }

  #startTurn(): void {
    const controller = new AbortController();
    const turnId = this.#services.newId();
    const model = this.#services.model(this.session.modelId);
    this.#apply({
      type: 'turnStarted',
      turn: { id: turnId, startedAt: this.#services.now(), phase: 'waiting' },
    });
    const done = runTurn({
      turnId,
      sessionId: this.session.id,
      nextSeq: this.#nextSeq(),
      history: toModelMessages(this.#state.messages),
      system: this.#services.system(),
      model,
      tools: this.#services.tools(),
      emit: (event) => this.#emit(event),
      signal: controller.signal,
      newId: this.#services.newId,
      now: this.#services.now,
      maxSteps,
    }).then(() => this.#recorder.flush());
    this.#turn = { controller, done };
    this.#services.onChange(this);
  }

  /** An event of the agent loop: applied, shown, and handed to the recorder. */
  #emit(event: AgentEvent): void {
    if (event.type === 'turnEnded') {
      // Whoever sees that the turn is over may start the next one at once, and sees what it changed of the session.
      this.#turn = null;
      this.#recorder.changed([]);
      this.#readSessionAgain();
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

  #apply(event: ChatEvent): void {
    this.#state = reduce(this.#state, event);
    this.#seq += 1;
    for (const viewer of this.#viewers) this.#send(viewer, event);
  }

  #send(viewer: Viewer, event: ChatEvent): void {
    viewer.receive({ type: 'event', runtimeId: this.id, seq: this.#seq, event });
  }

  #sendModels(): void {
    const message: HostMessage = { type: 'models', models: this.#services.modelPicker(this.session.modelId) };
    for (const viewer of this.#viewers) viewer.receive(message);
  }

  /**
   * Every transaction of this runtime: proves first that it may write the session, and creates the session's row if need
   * be. Rejects with SessionNotOwnedError when another live runtime writes this chat, or took it over.
   */
  async #write<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    let lease: Lease | null = null;
    const value = await this.#services.store.write((writer) => {
      lease = this.#own(writer);
      if (getSession(writer, this.session.id) === null) insertSession(writer, this.session);
      return change(writer);
    });
    this.#lease = lease;
    return value;
  }

  /** Once held, a lease is only ever checked: whoever took it over must not lose it to our next write. */
  #own(writer: WriteTransaction): Lease {
    if (this.#lease !== null) {
      guardLease(writer, this.#lease);
      return this.#lease;
    }
    return acquireLease(writer, {
      sessionId: this.session.id,
      runtimeId: this.id,
      windowId: this.#services.store.windowId,
      now: this.#services.now(),
      isWindowAlive: this.#services.isWindowAlive,
    });
  }

  async #saveDraft(draft: Draft): Promise<void> {
    const { id } = this.session;
    try {
      await this.#services.store.write((writer) => {
        const isStored = getSession(writer, id) !== null;
        if (!isStored && draft.text === '') return; // scrolling an empty panel is no reason to keep a chat
        if (!isStored) insertSession(writer, this.session);
        saveDraft(writer, { key: id, sessionId: id, draft });
      });
    } catch (error) {
      this.#services.log(`draft of ${id} not saved: ${String(error)}`);
      this.#apply({ type: 'savingChanged', problem: describeStoreProblem(error) });
    }
  }

  #readSessionAgain(): void {
    const session = this.#services.store.read((reader) => getSession(reader, this.session.id));
    if (session !== null) this.#setSession(session);
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

  #rowsAfterLastPrompt(): readonly Message[] | null {
    const index = this.#state.messages.findLastIndex((message) => message.role === 'user');
    return index < 0 ? null : this.#state.messages.slice(index + 1);
  }

  #newMessage(role: Message['role'], id: string, overrides: Partial<Message>): Message {
    const { session } = this;
    return makeMessage({
      id,
      sessionId: session.id,
      seq: this.#nextSeq(),
      role,
      createdAt: this.#services.now(),
      ...overrides,
    });
  }

  #nextSeq(): number {
    return (this.#state.messages.at(-1)?.seq ?? 0) + 1;
  }

  #refuseUnlessWritable(): void {
    this.#refuseIfArchived();
    if (this.isRunning || this.#isStarting) {
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
