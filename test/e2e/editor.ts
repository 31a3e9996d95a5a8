/** A VS Code with the extension installed, on a copy of the sample workspace, and a model server it is configured for. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, BrowserContext } from 'playwright-core';
import { closeBrowser, launchBrowser } from '../support/vscode/browser.ts';
import { chatPanel, openChat, type ChatPanel } from '../support/vscode/chatPanel.ts';
import { installExtension } from '../support/vscode/install.ts';
import { startServer, type Server } from '../support/vscode/server.ts';
import { type Settings, quietSettings, writeSettings } from '../support/vscode/settings.ts';
import { until } from '../support/vscode/until.ts';
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
  /** Which of the windows are open, in the order of their opening. */
  get windows(): readonly VscodeWindow[] {
    return this.#windows.filter(({ page }) => !page.isClosed());
  }
  readonly #browser: Browser;
  readonly #scratch: Scratch;
  /** Besides a provider that answers. */
  #settings: Settings = {};
  #windows: VscodeWindow[] = [];
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

  /** Most tests share one (`sharedEditor`); a test that needs another extension beside ours starts its own. */
  static async start(
    options: { install?: (extensionsDirectory: string) => Promise<void> } = {},
  ): Promise<Editor> {
    const scratch = scratchDirectory('holdfast-e2e-');
    const models = await startModelServer();
    const folder = copySampleWorkspace(scratch.path);
    const extensionsDirectory = join(scratch.path, 'extensions');
    await installExtension(extensionsDirectory);
    await options.install?.(extensionsDirectory);
    const server = await startServer({
      directory: join(scratch.path, 'server'),
      extensionsDirectory,
      settings: providerSettings(models),
    });
    const browser = await launchBrowser();
    const context = await browser.newContext();
    return new Editor({ server, models, folder, browser, context, scratch });
  }

  /** Closes all windows and forgets what VS Code keeps in the browser: the next window has no tabs. */
  async forgetPanels(): Promise<void> {
    for (const context of this.#browser.contexts()) await context.close();
    this.context = await this.#browser.newContext();
  }

  /**
   * No panel of an earlier test comes back. The workspace is a new one, because a panel whose window died is opened
   * again in its own. `settings` are added to a provider that answers, or replace it.
   */
  async startAfresh(settings: Settings = {}): Promise<void> {
    await this.forgetPanels();
    this.folder = this.copyWorkspace();
    this.#settings = settings;
    writeSettings(this.server.userDataDirectory, {
      ...quietSettings,
      ...providerSettings(this.models),
      ...settings,
    });
  }

  /**
   * A window without tabs: the one that the test before left open, if it has these settings, else a new one. A window
   * takes ten seconds to open, so a test that did it no harm leaves its own.
   */
  async calmWindow(settings: Settings = {}): Promise<VscodeWindow> {
    const [left, ...others] = this.windows;
    const isFit = left?.page.context() === this.context && isDeepStrictEqual(settings, this.#settings);
    if (left !== undefined && others.length === 0 && isFit) {
      await left.runCommand('View: Close All Editors');
      await until(async () => (await left.editorTabs().count()) === 0, { what: 'all tabs to be closed' });
      await left.runCommand('Notifications: Clear All Notifications');
      return left;
    }
    await this.startAfresh(settings);
    return this.openWindow();
  }

  /** Another copy of the sample workspace, for a window on a folder of its own. */
  copyWorkspace(): string {
    return copySampleWorkspace(this.#scratch.path, `workspace-${++this.#workspaces}`);
  }

  /** An empty folder that goes with the editor: while its hosts live, they may still write. */
  newFolder(): string {
    return mkdtempSync(join(this.#scratch.path, 'folder-'));
  }

  /** Like a second window of the same editor: it may restore tabs of the first. */
  openWindow(folder = this.folder): Promise<VscodeWindow> {
    return this.#openWindow(this.context, folder);
  }

  /** Like a window of another editor on the same folder and the same chats: it restores nothing. */
  async openWindowElsewhere(folder = this.folder): Promise<VscodeWindow> {
    return this.#openWindow(await this.#browser.newContext(), folder);
  }

  async #openWindow(context: BrowserContext, folder: string): Promise<VscodeWindow> {
    const window = await openWindow(context, this.server, { folder });
    this.#windows = [...this.windows, window];
    return window;
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

/** The model that `models` answers as. */
const model = 'test-model';

function providerSettings(models: ModelServer): Settings {
  return { 'holdfast.providers': [{ name: 'Test', baseUrl: models.baseUrl, models: [model] }] };
}

/** A window with a new chat in front, and no other tab. */
export async function openNewChat(
  editor: Editor,
  settings: Settings = {},
): Promise<{ window: VscodeWindow; panel: ChatPanel }> {
  const window = await editor.calmWindow(settings);
  const panel = await openChat(window);
  // On a busy machine the editor reads its settings after the panel is there, and until then the offline guide answers.
  if (!('holdfast.providers' in settings)) await panel.modelPicker.filter({ hasText: model }).waitFor();
  return { window, panel };
}
