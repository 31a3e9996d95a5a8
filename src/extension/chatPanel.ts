/** One chat panel: an editor tab whose page is a viewer of a chat's runtime. Closing it reclaims the panel, not the chat. */
import * as v from 'valibot';
import * as vscode from 'vscode';
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import { pageMessageSchema, type PageMessage } from '../core/protocol/pageMessages.ts';
import type { ChatRuntime } from '../core/runtime/chatRuntime.ts';
import { describeStoreProblem, messageOf, RefusedError } from '../core/runtime/problems.ts';
import type { Viewer } from '../core/runtime/viewer.ts';
import type { Problem, Session } from '../core/session/model.ts';
import { chatTitle } from '../core/session/title.ts';
import { commands, settings } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import { openLink } from './links.ts';
import { panelHtml, type PanelPage } from './panelHtml.ts';
import { workspaceIdentity } from './workspaceIdentity.ts';

export interface ChatPanelServices {
  readonly core: CoreAccess;
  /** The folder of the built assets. */
  readonly distribution: vscode.Uri;
  /** The model for new chats, null for the first of the list. */
  readonly defaultModelId: () => string | null;
  readonly log: (line: string) => void;
}

export class ChatPanel implements Viewer {
  readonly page: PanelPage;
  readonly panel: vscode.WebviewPanel;
  readonly #services: ChatPanelServices;
  #runtime: ChatRuntime | null = null;
  #isDisposed = false;

  constructor(services: ChatPanelServices, panel: vscode.WebviewPanel, page: PanelPage) {
    this.#services = services;
    this.panel = panel;
    this.page = page;
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(services.distribution, 'webview')],
      // Runs in the window, not in the extension host: the way out that is left when the host is gone.
      enableCommandUris: ['workbench.action.reloadWindow'],
    };
    panel.iconPath = vscode.Uri.joinPath(services.distribution, '..', 'media', 'holdfast.svg');
    panel.webview.onDidReceiveMessage((message: unknown) => void this.#receive(message));
    panel.onDidDispose(() => void this.#disposed());
    panel.webview.html = panelHtml(panel.webview, services.distribution, page);
  }

  get sessionId(): string {
    return this.#runtime?.session.id ?? this.page.sessionId;
  }

  receive(message: HostMessage): void {
    if (this.#isDisposed) return;
    if (message.type === 'snapshot') this.#showTitle(message.chat.session);
    else if (message.type === 'event' && message.event.type === 'sessionChanged') {
      this.#showTitle(message.event.session);
    }
    void this.panel.webview.postMessage(message);
  }

  /** Brings the panel to the front with the caret in its composer. */
  reveal(): void {
    this.panel.reveal();
    this.receive({ type: 'focusComposer' });
  }

  /** Runs something on the chat; what goes wrong is shown in the panel. */
  async act(action: (runtime: ChatRuntime) => Promise<void> | void): Promise<void> {
    try {
      await action(await this.#attached());
    } catch (error) {
      this.receive({ type: 'notice', message: problemOf(error).message });
    }
  }

  async #receive(raw: unknown): Promise<void> {
    const parsed = v.safeParse(pageMessageSchema, raw);
    if (!parsed.success) {
      this.#services.log(`message of a page has the wrong shape: ${v.summarize(parsed.issues)}`);
      const message =
        'The panel sent something this version does not understand. Reload the window to go on.';
      this.receive({ type: 'notice', message });
      return;
    }
    await this.#handle(parsed.output);
  }

  async #handle(message: PageMessage): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.#ready(message.draft);
      case 'ping':
        return this.receive({ type: 'pong', nonce: message.nonce });
      case 'send':
        return this.#sendPrompt(message.messageId, message.text);
      case 'draft':
        return this.act((runtime) => runtime.setDraft(message.draft));
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
        return this.act((runtime) => runtime.archive());
      case 'reopen':
        return this.act((runtime) => runtime.reopen());
      case 'selectModel':
        return this.act((runtime) => runtime.selectModel(message.modelId));
      case 'newChat':
        await vscode.commands.executeCommand(commands.newChat);
        return;
      case 'reloadWindow':
        await vscode.commands.executeCommand('workbench.action.reloadWindow');
        return;
      case 'openSettings':
        await vscode.commands.executeCommand(
          'workbench.action.openSettings',
          `${settings.section}.${settings.providers}`,
        );
        return;
      case 'openLink':
        return this.#openLink(message.href);
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
    }
  }

  async #ready(draft: Extract<PageMessage, { type: 'ready' }>['draft']): Promise<void> {
    try {
      const runtime = await this.#attached();
      if (draft !== null) runtime.setDraft(draft);
      runtime.attach(this);
    } catch (error) {
      this.#services.log(`chat ${this.page.sessionId} cannot be shown: ${String(error)}`);
      this.receive({ type: 'unavailable', problem: problemOf(error) });
    }
  }

  async #sendPrompt(messageId: string, text: string): Promise<void> {
    try {
      const runtime = await this.#attached();
      await runtime.send(messageId, text);
    } catch (error) {
      this.receive({ type: 'sendRejected', messageId, problem: problemOf(error) });
    }
  }

  async #openLink(href: string): Promise<void> {
    try {
      const problem = await openLink(href, this.panel.viewColumn);
      if (problem !== null) this.receive({ type: 'notice', message: problem });
    } catch (error) {
      this.receive({ type: 'notice', message: `${href} could not be opened: ${messageOf(error)}` });
    }
  }

  async #attached(): Promise<ChatRuntime> {
    if (this.#runtime !== null) return this.#runtime;
    const { registry } = await this.#services.core.get();
    const { uri, name } = workspaceIdentity();
    this.#runtime = registry.openOrCreate({
      id: this.page.sessionId,
      workspaceUri: uri,
      workspaceName: name,
      modelId: this.#services.defaultModelId(),
    });
    if (!this.#isDisposed) this.#runtime.attach(this);
    return this.#runtime;
  }

  async #disposed(): Promise<void> {
    this.#isDisposed = true;
    const core = this.#services.core.current;
    if (this.#runtime !== null && core !== null) await core.registry.detach(this.#runtime, this);
  }

  #showTitle(session: Session): void {
    const title = chatTitle(session);
    if (this.panel.title !== title) this.panel.title = title;
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof RefusedError) return { reason: error.reason, message: error.message };
  return describeStoreProblem(error);
}
