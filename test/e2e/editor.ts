/** A VS Code with the extension installed, on a copy of the sample workspace, and a model server it is configured for. */
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { closeBrowser, launchBrowser } from '../support/vscode/browser.ts';
import { chatPanel, openChat, type ChatPanel } from '../support/vscode/chatPanel.ts';
import { installExtension } from '../support/vscode/install.ts';
import { startServer, type Server } from '../support/vscode/server.ts';
import type { Settings } from '../support/vscode/settings.ts';
import { openWindow, type VscodeWindow } from '../support/vscode/window.ts';
import { copySampleWorkspace, scratchDirectory, type Scratch } from '../support/vscode/workspace.ts';
import { startModelServer, type ModelServer } from '../support/modelServer.ts';

export class Editor {
  server: Server;
  readonly models: ModelServer;
  /** The workspace that windows open. */
  folder: string;
  /** Keeps what VS Code stores in the browser: open editors and webview state outlive a window of it. */
  context: BrowserContext;
  readonly #browser: Browser;
  readonly #scratch: Scratch;
  #workspaces = 0;

  private constructor(parts: {
    server: Server;
    models: ModelServer;
    folder: string;
    browser: Browser;
    context: BrowserContext;
    scratch: Scratch;
  }) {
    this.server = parts.server;
    this.models = parts.models;
    this.folder = parts.folder;
    this.context = parts.context;
    this.#browser = parts.browser;
    this.#scratch = parts.scratch;
  }

  /** `offline`: no provider is configured, so that the offline guide answers. */
  static async start(
    options: {
      offline?: boolean;
      settings?: Settings;
      /** Puts another extension beside ours. */
      install?: (extensionsDirectory: string) => Promise<void>;
    } = {},
  ): Promise<Editor> {
    const scratch = scratchDirectory('holdfast-e2e-');
    const models = await startModelServer();
    const folder = copySampleWorkspace(scratch.path);
    const extensionsDirectory = join(scratch.path, 'extensions');
    await installExtension(extensionsDirectory);
    await options.install?.(extensionsDirectory);
    const providers = [{ name: 'Test', baseUrl: models.baseUrl, models: ['test-model'] }];
    const server = await startServer({
      directory: join(scratch.path, 'server'),
      extensionsDirectory,
      settings: {
        ...(options.offline === true ? {} : { 'holdfast.providers': providers }),
        ...options.settings,
      },
    });
    const browser = await launchBrowser();
    const context = await browser.newContext();
    return new Editor({ server, models, folder, browser, context, scratch });
  }

  /** Closes all windows and forgets what VS Code keeps in the browser: the next window has no tabs. */
  async forgetPanels(): Promise<void> {
    await this.context.close();
    this.context = await this.#browser.newContext();
  }

  /** No panel of an earlier test comes back. The workspace is a new one, because a panel whose window died is opened again in its own. */
  async startAfresh(): Promise<void> {
    await this.forgetPanels();
    this.folder = this.copyWorkspace();
  }

  /** Another copy of the sample workspace, for a window on a folder of its own. */
  copyWorkspace(): string {
    return copySampleWorkspace(this.#scratch.path, `workspace-${++this.#workspaces}`);
  }

  openWindow(folder = this.folder): Promise<VscodeWindow> {
    return openWindow(this.context, this.server, { folder });
  }

  /** The panel in front of that window. */
  async panel(window: VscodeWindow): Promise<ChatPanel> {
    const panel = chatPanel(window);
    await panel.ready();
    return panel;
  }

  /** Stops the server in order and starts it again on the same data and at the same address, as after a reboot. */
  async restartServer(): Promise<void> {
    const { directory, extensionsDirectory, port } = this.server;
    await this.server.stop();
    this.server = await startServer({ directory, extensionsDirectory, port });
  }

  async stop(): Promise<void> {
    await closeBrowser(this.#browser);
    await this.server.stop();
    await this.models.close();
    this.#scratch.remove();
  }
}

/** A window with a new chat in front. */
export async function openNewChat(editor: Editor): Promise<{ window: VscodeWindow; panel: ChatPanel }> {
  await editor.startAfresh();
  const window = await editor.openWindow();
  const panel = await openChat(window);
  return { window, panel };
}
