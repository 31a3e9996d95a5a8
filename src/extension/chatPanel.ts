/** One chat panel: an editor tab whose page is a viewer of a chat's runtime. Closing it reclaims the panel, not the chat. */
import { ulid } from 'ulid';
import * as vscode from 'vscode';
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import type { PageMessage } from '../core/protocol/pageMessages.ts';
import type { ChatRuntime } from '../core/runtime/chatRuntime.ts';
import type { PanelPlace } from '../core/runtime/panelRoutes.ts';
import {
  describeReadOnly,
  describeStoreProblem,
  mayBeSavedLater,
  messageOf,
} from '../core/runtime/problems.ts';
import type { NewChat, RuntimeRegistry } from '../core/runtime/registry.ts';
import type { Viewer } from '../core/runtime/viewer.ts';
import type { Draft, Session } from '../core/session/model.ts';
import { chatTitle } from '../core/session/title.ts';
import { isDeleted } from '../core/store/deletion.ts';
import { branchFrom, makeBranch } from './branches.ts';
import { commands, section, settings } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import { openLink } from './links.ts';
import { showPage } from './panelPage.ts';
import { workspaceIdentity } from './workspaceIdentity.ts';

export interface ChatPanelServices {
  readonly core: CoreAccess;
  /** The folder of the built assets. */
  readonly distribution: vscode.Uri;
  readonly log: (line: string) => void;
  /** Shows a chat in a panel of its own. */
  readonly open: (sessionId: string) => void;
}

/** A chat that a panel without state may have shown. */
export type ChatChoice = Extract<HostMessage, { type: 'chooseChat' }>['choices'][number];

/** What a panel shows: a chat, or the question which one it was. */
export type PanelContent = { readonly sessionId: string } | { readonly choices: readonly ChatChoice[] };

export class ChatPanel implements Viewer {
  readonly isPanel = true;
  readonly panelId: string;
  readonly panel: vscode.WebviewPanel;
  readonly #services: ChatPanelServices;
  #content: PanelContent;
  #runtime: ChatRuntime | null = null;
  #isDisposed = false;
  /** What its route was last told, so that only changes are written. */
  #recorded = '';

  constructor(
    services: ChatPanelServices,
    panel: vscode.WebviewPanel,
    panelId: string,
    content: PanelContent,
  ) {
    this.#services = services;
    this.panel = panel;
    this.panelId = panelId;
    this.#content = content;
    panel.onDidChangeViewState(() => this.#record());
    panel.onDidDispose(() => void this.#disposed());
    const sessionId = 'sessionId' in content ? content.sessionId : '';
    showPage(panel, services, { panelId, sessionId }, (message) => this.#handle(message));
    if ('sessionId' in content) void this.#prepare();
  }

  /** The chat it shows; null while the user has to say which. */
  get sessionId(): string | null {
    if (this.#runtime !== null) return this.#runtime.session.id;
    return 'sessionId' in this.#content ? this.#content.sessionId : null;
  }

  isVisible(): boolean {
    return !this.#isDisposed && this.panel.visible;
  }

  /** Its runtime was given back. A page that is seen wants to be on its chat again; a hidden one asks when it is shown. */
  reclaimed(): void {
    const sessionId = this.#runtime?.session.id;
    if (sessionId !== undefined) this.#content = { sessionId };
    this.#runtime = null;
    if (this.isVisible() && this.#services.core.current !== null) void this.#ready(null);
  }

  receive(message: HostMessage): void {
    if (this.#isDisposed) return;
    void this.panel.webview.postMessage(message);
    if (
      message.type === 'snapshot' ||
      (message.type === 'event' && message.event.type === 'sessionChanged')
    ) {
      this.#record();
    }
  }

  /** Brings the panel to the front with the caret in its composer. */
  reveal(): void {
    this.panel.reveal();
    this.receive({ type: 'focusComposer' });
  }

  /** Shows another chat in this panel. */
  async show(sessionId: string): Promise<void> {
    const runtime = this.#runtime;
    const core = this.#services.core.current;
    this.#content = { sessionId };
    this.#runtime = null;
    if (runtime !== null && core !== null) await core.registry.detach(runtime, this, 'disposed');
    await this.#ready(null);
  }

  /** Runs something on the chat; what goes wrong is shown in the panel. */
  async act(
    action: (runtime: ChatRuntime, registry: RuntimeRegistry) => Promise<void> | void,
  ): Promise<void> {
    try {
      const { registry } = await this.#services.core.get();
      const runtime = await this.#attached();
      registry.used(runtime);
      await action(runtime, registry);
    } catch (error) {
      this.receive({ type: 'notice', message: describeStoreProblem(error).message });
    }
  }

  /** Ends the chat and starts afresh in this panel. */
  archiveAndStartNew(): Promise<void> {
    return this.act(async (runtime, registry) => {
      const origin = `panel:${this.panelId}`;
      const { id } = await registry.archiveAndStartNew(runtime.session.id, origin, this.#newChat(ulid()));
      await this.show(id);
    });
  }

  /** A chat of its own that ends with this message (null: with the last one), shown in a panel of its own. */
  branch(messageId: string | null): Promise<void> {
    return this.act(async ({ session }) => {
      this.#services.open(await branchFrom(await this.#services.core.get(), session.id, messageId));
    });
  }

  async #handle(message: PageMessage): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.#ready(message.draft);
      case 'ping':
        return this.receive({ type: 'pong', nonce: message.nonce });
      case 'send':
        return this.#sendPrompt(message);
      case 'draft':
        return this.act((runtime) => runtime.setDraft(message.draft));
      case 'keptWords':
        return this.#forgetDeleted(message.sessionIds);
      case 'stop':
        return this.act((runtime) => runtime.stop());
      case 'retry':
        return this.act((runtime) => runtime.retry());
      case 'continue':
        return this.act((runtime) => runtime.continueAnswer());
      case 'saveAgain':
        return this.act((runtime) => runtime.flush());
      case 'loadOlder':
        return this.act((runtime) => runtime.loadOlder(this, message.before));
      case 'archive':
        return this.act((runtime, registry) => registry.archive(runtime.session.id));
      case 'archiveAndStartNew':
        return this.archiveAndStartNew();
      case 'reopen':
        return this.act((runtime, registry) => registry.reopen(runtime.session.id));
      case 'takeOver':
        return this.act((runtime) => runtime.takeOver());
      case 'compact':
        return this.act((runtime, registry) => registry.compact(runtime.session.id));
      case 'selectModel':
        return this.act((runtime) => runtime.selectModel(message.modelId));
      case 'branch':
        return this.branch(message.messageId);
      case 'editAndResend':
        return this.#editAndResend(message);
      case 'showChat':
        return this.show(message.sessionId);
      case 'bringIn':
        return; // of panels on other folders
      case 'chooseChat':
        return this.#choose(message.sessionId);
      case 'newChat':
        await vscode.commands.executeCommand(commands.newChat);
        return;
      case 'reloadWindow':
        await vscode.commands.executeCommand('workbench.action.reloadWindow');
        return;
      case 'openSettings':
        await vscode.commands.executeCommand(
          'workbench.action.openSettings',
          `${section}.${settings.providers}`,
        );
        return;
      case 'openLink':
        return this.#openLink(message.href);
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
    }
  }

  async #ready(draft: Draft | null): Promise<void> {
    try {
      if ('choices' in this.#content && this.#runtime === null) {
        this.receive({ type: 'chooseChat', choices: [...this.#content.choices] });
        return;
      }
      const { registry, store } = await this.#services.core.get();
      const runtime = await this.#opened();
      if (runtime !== this.#runtime) return await this.#ready(draft); // it was told to show another chat meanwhile
      const readOnly = describeReadOnly(store);
      if (draft !== null) runtime.setDraft(draft);
      registry.attach(runtime, this);
      if (readOnly !== null) this.receive({ type: 'notice', message: readOnly });
    } catch (error) {
      this.#services.log(`chat ${this.sessionId} cannot be shown: ${String(error)}`);
      this.receive({ type: 'unavailable', problem: describeStoreProblem(error) });
    }
  }

  /** A chat may have been deleted while no page was there to forget its words. */
  async #forgetDeleted(sessionIds: readonly string[]): Promise<void> {
    try {
      const { store } = await this.#services.core.get();
      const deleted = store.read((reader) => sessionIds.filter((id) => isDeleted(reader, id)));
      if (deleted.length > 0) this.receive({ type: 'forgetWords', sessionIds: deleted });
    } catch (error) {
      this.#services.log(`whose words are kept in the browser cannot be looked up: ${messageOf(error)}`);
    }
  }

  async #choose(sessionId: string | null): Promise<void> {
    if ('choices' in this.#content) await this.show(sessionId ?? ulid());
  }

  async #sendPrompt(message: Extract<PageMessage, { type: 'send' }>): Promise<void> {
    const { messageId, text, evenUnsaved } = message;
    try {
      const runtime = await this.#attached();
      await runtime.send(messageId, text, { evenUnsaved });
    } catch (error) {
      this.#rejectPrompt(messageId, error, this.#runtime !== null);
    }
  }

  /**
   * First the branch, with the text as its draft, so that no failure can lose it; then the prompt; then the panel shows it. A
   * branch that could not be made leaves the panel, and the box with the text, as they are.
   */
  async #editAndResend(message: Extract<PageMessage, { type: 'editAndResend' }>): Promise<void> {
    const { messageId, branchId, promptId, text } = message;
    try {
      const core = await this.#services.core.get();
      const { session } = await this.#attached();
      await makeBranch(core, { sessionId: session.id, messageId, cut: 'before', id: branchId, text });
      const branch = await core.registry.open(branchId);
      await branch.send(promptId, text).catch((error: unknown) => this.#rejectPrompt(promptId, error, true));
      await this.show(branchId);
    } catch (error) {
      this.#rejectPrompt(promptId, error, false);
    }
  }

  /** `hasChat`: the words are on their way in a chat, from where they can be sent though they cannot be saved now. */
  #rejectPrompt(messageId: string, error: unknown, hasChat: boolean): void {
    const canSendAnyway = hasChat && mayBeSavedLater(error);
    this.receive({ type: 'sendRejected', messageId, problem: describeStoreProblem(error), canSendAnyway });
  }

  async #openLink(href: string): Promise<void> {
    try {
      const problem = await openLink(href, this.panel.viewColumn);
      if (problem !== null) this.receive({ type: 'notice', message: problem });
    } catch (error) {
      this.receive({ type: 'notice', message: `${href} could not be opened: ${messageOf(error)}` });
    }
  }

  /** The runtime of the chat, with this panel as its viewer. */
  async #attached(): Promise<ChatRuntime> {
    const { registry } = await this.#services.core.get();
    const runtime = await this.#opened();
    if (runtime !== this.#runtime) return this.#attached(); // it was told to show another chat meanwhile
    if (!this.#isDisposed && !runtime.viewers.includes(this)) registry.attach(runtime, this);
    return runtime;
  }

  async #opened(): Promise<ChatRuntime> {
    if (this.#runtime !== null && !this.#runtime.isFinalized) return this.#runtime;
    const content = this.#content;
    if ('choices' in content) throw new Error('Say first which chat this panel shows.');
    const { registry } = await this.#services.core.get();
    const runtime = await registry.openOrCreate(this.#newChat(content.sessionId));
    if (this.#content !== content) return this.#opened();
    this.#runtime = runtime;
    return runtime;
  }

  /** Reads the chat while the page loads. */
  async #prepare(): Promise<void> {
    try {
      const { registry } = await this.#services.core.get();
      const runtime = await this.#opened();
      if (this.#isDisposed) await registry.detach(runtime, this, 'disposed');
    } catch (error) {
      // The page is told when it asks.
      this.#services.log(`chat ${this.sessionId} cannot be read yet: ${messageOf(error)}`);
    }
  }

  #newChat(id: string): NewChat {
    const { uri, name } = workspaceIdentity();
    return { id, workspaceUri: uri, workspaceName: name, modelId: null };
  }

  async #disposed(): Promise<void> {
    this.#isDisposed = true;
    const core = this.#services.core.current;
    if (core === null) return;
    try {
      try {
        await core.routes.closed(this.panelId);
      } finally {
        if (this.#runtime !== null) await core.registry.detach(this.#runtime, this, 'disposed');
      }
    } catch (error) {
      this.#services.log(`closing the panel of ${this.sessionId}: ${messageOf(error)}`);
    }
  }

  /** Keeps the tab's title and the panel's route on what it shows. */
  #record(): void {
    const session = this.#runtime?.session;
    const core = this.#services.core.current;
    if (this.#isDisposed || session === undefined || core === null) return;
    const title = chatTitle(session);
    if (this.panel.title !== title) this.panel.title = title;
    const place: PanelPlace = { title, viewColumn: this.panel.viewColumn ?? null };
    const recorded = JSON.stringify([session.id, place, isStored(session)]);
    if (recorded === this.#recorded) return;
    this.#recorded = recorded;
    core.routes.record(this.panelId, session, place).catch((error: unknown) => {
      this.#recorded = '';
      this.#services.log(`route of panel ${this.panelId} not saved: ${messageOf(error)}`);
    });
  }
}

/** A chat gets its row with the first prompt or draft; the row's own number tells. */
function isStored(session: Session): boolean {
  return session.lastActivitySeq > 0;
}
