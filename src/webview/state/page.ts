/** The page's model: what is known, and what the user can do. Views read its signals and call its methods. */
import { batch, computed, signal } from '@preact/signals';
import type { HostMessage, ModelPicker } from '../../core/protocol/hostMessages.ts';
import type { ChatEvent, Fork } from '../../core/session/events.ts';
import type { Message, Problem } from '../../core/session/model.ts';
import { isArchived } from '../../core/session/reasons.ts';
import type { Host } from '../host.ts';
import type { PageConfig } from '../pageConfig.ts';
import { words } from '../words.ts';
import { ChatView } from './chatView.ts';
import { findCommand, type CommandName } from './commands.ts';
import { Connection, type Snapshot } from './connection.ts';
import { DraftBox, type Position } from './draftBox.ts';
import { KeptWords } from './keptWords.ts';
import { PromptEdit } from './promptEdit.ts';

/** A chat that this panel may have shown. */
export type ChatChoice = Extract<HostMessage, { type: 'chooseChat' }>['choices'][number];

/** The user goes from one branch to another, at the place where these chats part. */
export interface Departure {
  readonly chats: readonly string[];
  readonly to: string;
  readonly isForward: boolean;
}

/** A prompt that was not sent, and why. */
type Refusal = Pick<Extract<HostMessage, { type: 'sendRejected' }>, 'problem' | 'canSendAnyway'>;

/** After this long an unanswered request for older messages may be repeated. */
const olderPatienceMs = 5000;
/** How many prompts are loaded without being asked for. */
const promptsAhead = 20;

export class Page {
  readonly chat = new ChatView();
  readonly draft: DraftBox;
  readonly edit: PromptEdit;
  readonly connection: Connection;
  readonly models = signal<ModelPicker | null>(null);
  readonly unavailable = signal<Problem | null>(null);
  /** The host does not know which of these chats the panel showed, and asks; null when there is no question. */
  readonly choices = signal<readonly ChatChoice[] | null>(null);
  readonly #said = signal<string | null>(null);
  readonly #refusal = signal<Refusal | null>(null);
  /** A passing sentence. Why nothing can be saved is not told twice: that has a notice of its own. */
  readonly notice = computed(() => {
    const refusal = this.#refusal.value;
    if (refusal === null) return this.#said.value;
    const isTold = this.chat.savingProblem.value?.message === refusal.problem.message;
    return `${isTold ? words.cannotBeSaved : refusal.problem.message} ${words.keepsText}`;
  });
  /** What the notice tells of was not sent because it cannot be saved now; the user may send it all the same. */
  readonly canSendAnyway = computed(() => this.#refusal.value?.canSendAnyway === true);
  /** For the live region: how turns start and end. */
  readonly announcement = signal('');
  readonly isModelListOpen = signal(false);
  readonly isLoadingOlder = signal(false);
  /** Counts the host's requests to put the caret into the composer. */
  readonly focusRequests = signal(0);
  /** Counts the user's own prompts: the view goes to the end for each. */
  readonly sent = signal(0);
  /** Goes up with each snapshot of another chat or runtime, when the view has to find its place anew. */
  readonly opened = signal(0);

  /** Where the user switched from, once the other chat is there; null when the view has gone to the same place in it. */
  readonly arrival = signal<Departure | null>(null);

  readonly isArchived = computed(() => {
    const session = this.chat.session.value;
    return session !== null && isArchived(session);
  });
  readonly isConnected = computed(() => this.connection.phase.value === 'connected');
  /** Another window writes the chat and this one follows it, or it is read from another chat folder. */
  readonly isElsewhere = computed(() => this.chat.owner.value === 'elsewhere');
  /** The chat is there, live and open; but maybe another window's to write. */
  readonly isOpen = computed(
    () =>
      this.isConnected.value &&
      this.chat.session.value !== null &&
      this.unavailable.value === null &&
      this.chat.folder.value === null &&
      !this.isArchived.value,
  );
  /** Whether anything can be asked of the chat. */
  readonly isWritable = computed(() => this.isOpen.value && !this.isElsewhere.value);
  /** Text can be selected and copied, not changed: nobody is there to take it. */
  readonly isReadOnly = computed(() => this.connection.phase.value === 'stopped' || this.isElsewhere.value);
  readonly isBusy = computed(() => this.chat.running.value !== null || this.draft.pending.value.length > 0);
  /** The command that stands in the composer, alone. */
  readonly command = computed(() => findCommand(this.draft.text.value));
  readonly canSend = computed(() => {
    if (!this.isWritable.value) return false;
    if (this.command.value !== null) return true;
    return !this.isBusy.value && this.draft.text.value.trim() !== '';
  });
  readonly canSendEdit = computed(
    () => this.isConnected.value && !this.edit.isSending.value && this.edit.text.value.trim() !== '',
  );
  readonly #host: Host;
  readonly #kept = new KeptWords(() => window.localStorage);
  #olderAskedAt = 0;
  #departure: Departure | null = null;

  constructor(host: Host, config: PageConfig, newId: () => string) {
    this.#host = host;
    this.draft = new DraftBox(host, this.#kept, config, newId);
    this.edit = new PromptEdit(host, this.#kept, newId);
    this.connection = new Connection(host, {
      onSnapshot: (snapshot, isNewRuntime) => this.#takeSnapshot(snapshot, isNewRuntime),
      onEvent: (event) => this.#takeEvent(event),
      draft: () => this.draft.ownDraft,
    });
  }

  start(): void {
    this.#host.listen((message) => this.#receive(message));
    this.connection.start();
    const sessionIds = [...this.#kept.chats()];
    if (sessionIds.length > 0) this.#host.post({ type: 'keptWords', sessionIds });
  }

  /** Sends what stands in the composer, or does it. */
  send(): void {
    const command = this.command.value;
    if (this.canSend.value && command !== null) {
      this.dismissNotice();
      this.draft.type('', 0);
      this.#run(command);
    } else if (this.canSend.value) {
      this.#sendPrompt(false);
    } else if (this.chat.running.value !== null && this.draft.text.value.trim() !== '') {
      this.#say(words.waitForAnswer);
    } else if (this.choices.value !== null && this.draft.text.value.trim() !== '') {
      this.#say(words.chooseFirst);
    }
  }

  /** Sends what stands in the composer though it cannot be saved now: it is kept in memory until it can. */
  sendAnyway(): void {
    if (this.canSend.value && this.command.value === null) this.#sendPrompt(true);
  }

  dismissNotice(): void {
    this.#say(null);
  }

  /** Null: none of them, a new chat. */
  chooseChat(sessionId: string | null): void {
    this.#host.post({ type: 'chooseChat', sessionId });
  }

  stop(): void {
    const running = this.chat.running.value;
    if (running === null || this.isElsewhere.value) return;
    if (running.phase !== 'stopping') this.#host.post({ type: 'stop' });
  }

  retry(): void {
    this.#host.post({ type: 'retry' });
  }

  continue(): void {
    this.#host.post({ type: 'continue' });
  }

  saveAgain(): void {
    this.#host.post({ type: 'saveAgain' });
  }

  archive(): void {
    this.#host.post({ type: 'archive' });
  }

  reopen(): void {
    this.#host.post({ type: 'reopen' });
  }

  takeOver(): void {
    this.#host.post({ type: 'takeOver' });
  }

  bringIn(): void {
    this.#host.post({ type: 'bringIn' });
  }

  /** Null: at the last message. */
  branch(messageId: string | null): void {
    this.#host.post({ type: 'branch', messageId });
  }

  startEdit({ id, text }: Message): void {
    const session = this.chat.session.value;
    if (session !== null) this.edit.start(session.id, id, text);
  }

  sendEdit(): void {
    if (!this.canSendEdit.value) return;
    this.dismissNotice();
    this.edit.send();
  }

  /** Shows another branch in this panel, at the place where the two part. */
  switchTo(departure: Departure): void {
    this.#departure = departure;
    this.#host.post({ type: 'showChat', sessionId: departure.to });
  }

  /** Where to look after a switch; null when there was none. */
  forkOfArrival(): Fork | null {
    const arrival = this.arrival.peek();
    const forks = [...this.chat.forks.peek().values()];
    return forks.find(({ chats }) => chats.join() === arrival?.chats.join()) ?? null;
  }

  archiveAndStartNew(): void {
    this.#host.post({ type: 'archiveAndStartNew' });
  }

  compact(): void {
    this.#host.post({ type: 'compact' });
  }

  newChat(): void {
    this.#host.post({ type: 'newChat' });
  }

  selectModel(modelId: string): void {
    this.#host.post({ type: 'selectModel', modelId });
  }

  openSettings(): void {
    this.#host.post({ type: 'openSettings' });
  }

  openLink(href: string): void {
    this.#host.post({ type: 'openLink', href });
  }

  copy(text: string): void {
    this.#host.post({ type: 'copy', text });
  }

  reloadWindow(): void {
    this.#host.post({ type: 'reloadWindow' });
  }

  /** The view came to rest elsewhere; nothing is said of a place that is the same. */
  moveTo(position: Position): void {
    const { scroll, anchor } = this.draft.position;
    const isSame =
      position.scroll === scroll &&
      position.anchor?.messageId === anchor?.messageId &&
      position.anchor?.offset === anchor?.offset;
    if (!isSame && this.chat.session.value !== null) this.draft.moveTo(position);
  }

  /** So that the arrow keys have prompts to go back through, although the first page is short. */
  loadAhead(): void {
    const messages = this.chat.state?.messages ?? [];
    if (messages.filter(({ role }) => role === 'user').length < promptsAhead) this.loadOlder();
  }

  loadOlder(): void {
    const oldest = this.chat.state?.messages[0];
    if (oldest === undefined || !this.chat.hasOlder.value) return;
    const now = performance.now();
    if (this.isLoadingOlder.value && now - this.#olderAskedAt < olderPatienceMs) return;
    this.#olderAskedAt = now;
    this.isLoadingOlder.value = true;
    this.#host.post({ type: 'loadOlder', before: oldest.id });
  }

  #sendPrompt(evenUnsaved: boolean): void {
    this.dismissNotice();
    this.draft.send(evenUnsaved);
    this.sent.value += 1;
  }

  #say(notice: string | null): void {
    batch(() => {
      this.#said.value = notice;
      this.#refusal.value = null;
    });
  }

  #run(command: CommandName): void {
    switch (command) {
      case '/compact':
        return this.compact();
      case '/archive':
        return this.archive();
      case '/new':
        return this.newChat();
      case '/model':
        this.isModelListOpen.value = true;
    }
  }

  #receive(message: HostMessage): void {
    this.connection.receive(message);
    switch (message.type) {
      case 'models':
        this.models.value = message.models;
        break;
      case 'sendRejected':
        this.draft.giveBack(message.messageId);
        this.edit.rejected(message.messageId);
        this.#refusal.value = message;
        break;
      case 'unavailable':
        batch(() => {
          this.unavailable.value = message.problem;
          this.choices.value = null;
        });
        break;
      case 'chooseChat':
        batch(() => {
          this.choices.value = message.choices;
          this.unavailable.value = null;
        });
        break;
      case 'notice':
        this.#say(message.message);
        break;
      case 'forgetWords':
        for (const sessionId of message.sessionIds) this.#kept.forget(sessionId);
        break;
      case 'focusComposer':
        this.focusRequests.value += 1;
        break;
      case 'snapshot':
      case 'event':
      case 'pong':
        break; // the connection's
    }
  }

  #takeSnapshot(snapshot: Snapshot, isNewRuntime: boolean): void {
    batch(() => {
      const { session, messages } = snapshot.chat;
      const ids = new Set(messages.map((message) => message.id));
      this.draft.setReadOnly(snapshot.chat.owner === 'elsewhere');
      this.draft.meet(session, snapshot.draft, (id) => ids.has(id), isNewRuntime);
      this.unavailable.value = null;
      if (this.notice.value === words.chooseFirst) this.dismissNotice();
      this.choices.value = null;
      this.models.value = snapshot.models;
      this.isLoadingOlder.value = false;
      const isOtherChat = this.chat.session.value?.id !== session.id;
      this.chat.replace(snapshot.chat);
      if (isOtherChat) this.opened.value += 1;
      this.edit.meet(session.id, (id) => promptText(messages, id));
      if (isOtherChat && this.#departure !== null) {
        this.arrival.value = this.#departure;
        this.#departure = null;
      }
    });
  }

  #takeEvent(event: ChatEvent): void {
    // An answer to a question asked before a snapshot would leave a hole.
    if (event.type === 'olderLoaded' && !this.isLoadingOlder.value) return;
    batch(() => {
      this.chat.apply(event);
      switch (event.type) {
        case 'savingChanged':
          if (event.problem === null && this.canSendAnyway.value) this.#say(words.savesAgain);
          break;
        case 'messageAdded':
          this.draft.arrived(event.message.id);
          break;
        case 'sessionChanged':
          this.draft.follow(event.session);
          this.edit.follow(event.session.id);
          break;
        case 'ownerChanged':
          this.draft.setReadOnly(event.owner === 'elsewhere');
          break;
        case 'turnStarted':
          this.announcement.value = words.turnStarted;
          break;
        case 'turnEnded':
          this.announcement.value = words.turnEnded[event.stopReason];
          if (this.notice.value === words.waitForAnswer) this.dismissNotice();
          break;
        case 'olderLoaded':
          this.isLoadingOlder.value = false;
          break;
        default:
          break;
      }
    });
  }
}

function promptText(messages: readonly Message[], id: string): string | null {
  return messages.find((message) => message.id === id && message.role === 'user')?.text ?? null;
}
