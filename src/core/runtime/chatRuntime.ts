/**
 * The in-memory side of one open chat in one window: its transcript, the running turn, the viewers attached to it. It is
 * disposable: the chat is the row in the store, and losing a runtime loses at most the loss bound.
 *
 * Every change goes one way: event → reducer → recorder (store) and viewers. A prompt is durable before its request leaves.
 */
import type { StopReason } from '../session/events.ts';
import { makeMessage, type Draft, type Message, type Problem, type Session } from '../session/model.ts';
import { isArchived, isRecoverable } from '../session/reasons.ts';
import type { ChatState } from '../session/reducer.ts';
import { isDeleted } from '../store/deletion.ts';
import { saveDraft } from '../store/drafts.ts';
import type { Lease } from '../store/leases.ts';
import { supersedeMessages, withContents } from '../store/messages.ts';
import { getSession, insertSession, reopenSession, updateSession } from '../store/sessions.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import type { ChatRecord } from '../store/transfer/records.ts';
import { ChatView } from './chatView.ts';
import { DraftKeeper } from './draftKeeper.ts';
import { Following } from './following.ts';
import type { LoadedChat } from './loadChat.ts';
import { Ownership } from './ownership.ts';
import {
  deletedError,
  describeStoreProblem,
  isRefusedForGood,
  mayBeSavedLater,
  RefusedError,
} from './problems.ts';
import { storePrompt, titledBy, type Titled } from './prompt.ts';
import { Recorder } from './recorder.ts';
import type { RuntimeServices } from './runtimeServices.ts';
import { TurnRunner } from './turnRunner.ts';
import type { Viewer } from './viewer.ts';

export class ChatRuntime {
  readonly id: string;
  readonly #services: RuntimeServices;
  readonly #recorder: Recorder;
  readonly #draft: DraftKeeper;
  readonly #ownership: Ownership;
  readonly #view: ChatView;
  readonly #following: Following;
  readonly #turns: TurnRunner;
  #isFinalized = false;
  /** A panel showed it: cleanup never ends its row. */
  #isPanel = false;

  constructor(services: RuntimeServices, chat: LoadedChat) {
    this.id = services.newId();
    this.#services = services;
    const { store, now, isWindowAlive, modelPicker } = services;
    const { session, messages } = chat;
    this.#draft = new DraftKeeper(chat.draft, (draft) => this.#saveDraft(draft));
    const draft = (): Draft => this.#draft.current;
    const contents = (some: readonly Message[]): Message[] =>
      store.read((reader) => some.map((message) => withContents(reader, message)));
    this.#view = new ChatView({
      runtimeId: this.id,
      session,
      messages,
      modelPicker,
      draft,
      withContents: contents,
    });
    this.#ownership = new Ownership({
      store,
      now,
      isWindowAlive,
      runtimeId: this.id,
      onCutOff: (ids, finishedAt) => this.#following.showCutOff(ids, finishedAt),
    });
    this.#recorder = new Recorder({
      write: (change) => this.#write(change),
      message: (id) => this.#view.state.messages.findLast((message) => message.id === id),
      onSaved: (ids) => this.#view.apply({ type: 'messagesSaved', ids: [...ids] }),
      onProblem: (problem) => this.#savingChanged(problem),
      isFinal: (error) => this.#isRefused(error),
    });
    const view = this.#view;
    const onChange = (): void => services.onChange(this);
    this.#following = new Following({ store, view, ownership: this.#ownership, onMoved: onChange });
    this.#turns = new TurnRunner({
      view,
      recorder: this.#recorder,
      services,
      isFinalized: () => this.#isFinalized,
      onEnding: () => this.readSessionAgain(),
      onFinished: () => this.#followIfLost(),
      onChange,
    });
    this.#following.lookAtOwner();
    this.#following.lookAtForks();
  }

  /** The session this runtime writes now: after a compaction the child, not what it was opened with. */
  get session(): Session {
    return this.#view.state.session;
  }

  get state(): ChatState {
    return this.#view.state;
  }

  get isRunning(): boolean {
    return this.#turns.isRunning;
  }

  get isFinalized(): boolean {
    return this.#isFinalized;
  }

  get isPanel(): boolean {
    return this.#isPanel;
  }

  get hasHistory(): boolean {
    return this.#view.state.messages.length > 0;
  }

  get viewers(): readonly Viewer[] {
    return this.#view.viewers;
  }

  /** Something of this chat is not on disk yet: the runtime must not be given back. */
  get hasUnwritten(): boolean {
    return this.#hasUnwrittenMessages || this.#draft.hasUnwritten;
  }

  /** Why something of this chat could not be saved, and waits to be; null: nothing does. */
  get savingProblem(): Problem | null {
    return this.hasUnwritten ? this.#view.state.savingProblem : null;
  }

  /** What is not known to be on disk, as records that can be brought in later; empty: nothing. */
  unsaved(): ChatRecord[] {
    const { session } = this;
    const { id: sessionId } = session;
    const messages = this.#hasUnwrittenMessages ? this.#recorder.unwritten() : [];
    const records: ChatRecord[] = messages.map((message) => ({ type: 'message', message }));
    if (this.#draft.hasUnwritten)
      records.push({ type: 'draft', key: sessionId, sessionId, draft: this.draft });
    return records.length === 0
      ? []
      : [{ type: 'chat', session, wasShownByPanel: this.#isPanel }, ...records];
  }

  get draft(): Draft {
    return this.#draft.current;
  }

  /** Adds a viewer and gives it the whole state; events follow. Attaching again sends a fresh snapshot. */
  attach(viewer: Viewer): void {
    this.#isPanel ||= viewer.isPanel;
    this.#view.attach(viewer);
  }

  detach(viewer: Viewer): void {
    this.#view.detach(viewer);
  }

  /** Gives one viewer the page of messages before the oldest it has. */
  loadOlder(viewer: Viewer, before: string): void {
    this.#view.loadOlder(viewer, before);
  }

  /**
   * Takes a prompt: durable first, then shown, then sent to the model. `messageId` comes from the page, so a repeated
   * send adds nothing. `evenUnsaved`: when it cannot be saved for a cause that can go away, it is sent all the same and saved
   * later. Rejects with a RefusedError or StoreError, and then nothing has changed.
   */
  async send(messageId: string, text: string, { evenUnsaved = false } = {}): Promise<void> {
    if (this.#view.state.messages.some((message) => message.id === messageId)) return;
    this.refuseUnlessWritable();
    if (text.trim() === '') {
      throw new RefusedError('empty', 'There is nothing to send yet: type a message first.');
    }
    const now = this.#services.now();
    const message = makeMessage({
      id: messageId,
      sessionId: this.session.id,
      seq: this.#view.nextSeq(),
      role: 'user',
      text,
      createdAt: now,
      finishedAt: now,
    });
    const titled = titledBy(text, this.session);
    const draft = this.#draft.emptied(now);
    const modelId = this.#services.modelPicker(this.session.modelId).selectedId;
    await this.#turns.begin(async () => {
      try {
        await this.#write((writer) => storePrompt(writer, { message, titled, modelId, draft }));
      } catch (error) {
        if (!evenUnsaved || !mayBeSavedLater(error)) throw error;
        this.#takeUnsaved(message, titled, draft);
        return;
      }
      this.#draft.stored(draft);
      this.#view.apply({ type: 'messageAdded', message });
      this.#view.apply({ type: 'messagesSaved', ids: [message.id] });
      this.readSessionAgain();
    });
  }

  /** Stops the running answer and keeps its text. Resolves when all of it is stored, or waits to be. */
  stop(): Promise<void> {
    return this.#turns.stop();
  }

  /** Resolves when the latest turn is over and all of it is stored, or waits to be, with how it ended; null: there was none. */
  answered(): Promise<StopReason | null> {
    return this.#turns.answered();
  }

  /** Asks again for the last prompt: the failed or cut-off rows after it stay, folded, and are no longer sent to a model. */
  async retry(): Promise<void> {
    this.refuseUnlessWritable();
    const after = this.#view.rowsAfterLastPrompt();
    if (after === null) throw new RefusedError('nothing_to_do', 'There is no prompt to send again.');
    const ids = after.filter((message) => message.active).map((message) => message.id);
    await this.#turns.begin(async () => {
      if (ids.length === 0) return;
      const all = await this.#write((writer) => supersedeMessages(writer, ids));
      this.#view.apply({ type: 'messagesSuperseded', ids: all });
    });
  }

  /** Goes on with an answer that was cut off; the text so far stays and is sent along. */
  async continueAnswer(): Promise<void> {
    this.refuseUnlessWritable();
    const last = this.#view.state.messages.findLast((message) => message.active);
    if (last === undefined || last.role === 'user') {
      throw new RefusedError('nothing_to_do', 'There is no answer to continue.');
    }
    await this.#turns.begin(() => this.#write(() => undefined));
  }

  /**
   * **Take over here**: this window writes the chat from now on, and the one that did follows it. An answer that ran there is cut
   * off, its text kept. Rejects with a RefusedError or StoreError.
   */
  async takeOver(): Promise<void> {
    this.changedElsewhere(); // the other window may be done, or have compacted the chat
    this.#refuseIfArchived();
    if (this.#view.state.owner === 'here') return;
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
    this.#view.modelsChanged();
  }

  /** The store was changed by another window, or a window died: shows what is there now. */
  changedElsewhere(): void {
    this.#followOthers();
    this.lookAtForks();
  }

  /** A branch may have been made or deleted. */
  lookAtForks(): void {
    this.#following.lookAtForks();
  }

  #followOthers(): void {
    this.readSessionAgain();
    this.#following.lookAtOwner();
    if (this.#isFinalized) return;
    const isLost = this.#services.store.read((reader) => this.#ownership.isLost(reader));
    if (this.isRunning) {
      if (isLost) this.#turns.abort(); // nothing that it still says would be stored
      return;
    }
    if (isLost) this.#ownership.forget();
    if (this.#hasUnwrittenMessages) return; // what is only here must not be replaced by what is stored
    this.#following.catchUp();
  }

  /** Whether it may be abandoned, at a glance, which can be had often; what a glance cannot tell counts as not. */
  get seemsAbandoned(): boolean {
    return !this.isRunning && this.#following.seemsAbandoned;
  }

  /** The window that wrote the chat has died, or an answer is shown as running that nobody gives. */
  get isAbandoned(): boolean {
    return !this.isRunning && this.#following.isAbandoned;
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
    this.#view.apply({ type: 'sessionChanged', session });
    for (const message of copies) this.#view.apply({ type: 'messageAdded', message });
    this.#view.apply({ type: 'messagesSaved', ids: copies.map((message) => message.id) });
    this.#services.onChange(this);
  }

  /** Proof that the chat may be compacted or the like: nothing runs, and we may write it. */
  refuseUnlessWritable(): void {
    if (!this.isRunning) this.changedElsewhere(); // what others did until now comes first
    this.#refuseIfArchived();
    if (this.#view.state.owner === 'elsewhere') {
      throw new RefusedError('not_owned', 'This chat is open in another window, which is writing to it.');
    }
    if (this.isRunning) {
      throw new RefusedError(
        'running',
        'An answer is still running: stop it first, or wait until it is done.',
      );
    }
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

  /** The first step of a teardown: stops a running turn, and abandons one that has not stopped after `patienceMs`. */
  interrupt(patienceMs: number): Promise<void> {
    return this.#turns.interrupt(patienceMs);
  }

  /** Lets others write the chat. */
  release(): Promise<void> {
    return this.#ownership.release();
  }

  /** Stops timers and lets go of the viewers, who are told. The chat stays as it is in the store. */
  dispose(): void {
    this.#recorder.dispose();
    this.#draft.dispose();
    this.#view.dispose();
  }

  get #hasUnwrittenMessages(): boolean {
    return this.#recorder.hasUnwritten && this.#view.state.owner === 'here';
  }

  /** The prompt waits in memory like an answer whose write failed; a chat that is not stored yet gets its title with its row. */
  #takeUnsaved(message: Message, titled: Titled | null, draft: Draft): void {
    if (titled !== null) this.#setSession({ ...this.session, ...titled });
    this.#draft.set(draft);
    this.#view.apply({ type: 'messageAdded', message });
    this.#recorder.changed([message.id]);
  }

  /** Another window took the chat over in the middle of an answer: what it cut off here is not what is stored. */
  #followIfLost(): void {
    if (this.#isFinalized || this.isRunning) return;
    if (this.#services.store.read((reader) => this.#ownership.isLost(reader))) this.changedElsewhere();
  }

  /** A write was refused because the chat is not ours any more: nothing more of it is produced here. */
  #isRefused(error: unknown): boolean {
    if (!isRefusedForGood(error)) return false;
    this.#turns.abort();
    this.#following.lookAtOwner();
    this.readSessionAgain();
    return true;
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
      if (this.#view.state.savingProblem !== null && !this.#recorder.isFailing) {
        this.#savingChanged(null);
      }
      return true;
    } catch (error) {
      this.#services.log(`draft of ${id} not saved: ${String(error)}`);
      this.#savingChanged(describeStoreProblem(error));
      return isRefusedForGood(error);
    }
  }

  /** The chat's first write. One that was deleted stays so, whoever still shows it. */
  #insertSession(writer: WriteTransaction): void {
    if (isDeleted(writer, this.session.id)) throw deletedError();
    insertSession(writer, this.session);
  }

  #savingChanged(problem: Problem | null): void {
    this.#view.apply({ type: 'savingChanged', problem });
    this.#services.onChange(this);
  }

  #setSession(session: Session): void {
    if (JSON.stringify(session) === JSON.stringify(this.session)) return;
    this.#view.apply({ type: 'sessionChanged', session });
    this.#services.onChange(this);
  }

  #refuseIfArchived(): void {
    if (isArchived(this.session)) {
      throw new RefusedError('archived', 'This chat is archived: reopen it to go on.');
    }
  }
}
