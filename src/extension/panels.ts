/** All chat panels of the window: opens them, restores them after a reload, and finds the one that shows a chat. */
import { ulid } from 'ulid';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { pageStateSchema } from '../core/protocol/pageMessages.ts';
import { ChatPanel, type ChatPanelServices } from './chatPanel.ts';
import { chatPanelType } from './contributions.ts';
import { Disposables } from './disposables.ts';
import type { PanelPage } from './panelHtml.ts';

export class ChatPanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #services: ChatPanelServices;
  readonly #panels = new Set<ChatPanel>();
  readonly #disposables = new Disposables();

  constructor(services: ChatPanelServices) {
    this.#services = services;
    this.#disposables.add(vscode.window.registerWebviewPanelSerializer(chatPanelType, this));
  }

  /** The panel in front of the user, if it is one of ours. */
  get active(): ChatPanel | undefined {
    return [...this.#panels].find((panel) => panel.panel.active);
  }

  /** Opens a panel on a new chat. Nothing is stored before there is something to keep. */
  openNew(): ChatPanel {
    return this.#create({ panelId: ulid(), sessionId: ulid() });
  }

  /** Shows a chat: in the panel that already does, else in a new one. */
  open(sessionId: string): ChatPanel {
    const shown = [...this.#panels].find((panel) => panel.sessionId === sessionId);
    if (shown !== undefined) {
      shown.reveal();
      return shown;
    }
    return this.#create({ panelId: ulid(), sessionId });
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const parsed = v.safeParse(pageStateSchema, state);
    if (!parsed.success) {
      this.#services.log(`panel restored without its chat: ${v.summarize(parsed.issues)}`);
      this.#add(panel, { panelId: ulid(), sessionId: ulid() });
      return;
    }
    this.#add(panel, parsed.output);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #create(page: PanelPage): ChatPanel {
    const panel = vscode.window.createWebviewPanel(chatPanelType, 'New Chat', vscode.ViewColumn.Active);
    return this.#add(panel, page);
  }

  #add(panel: vscode.WebviewPanel, page: PanelPage): ChatPanel {
    const chatPanel = new ChatPanel(this.#services, panel, page);
    this.#panels.add(chatPanel);
    panel.onDidDispose(() => this.#panels.delete(chatPanel));
    return chatPanel;
  }
}
