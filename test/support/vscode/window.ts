import { type BrowserContext, type FrameLocator, type Locator, type Page, errors } from 'playwright-core';
import type { Server } from './server.ts';
import { type Settings, changeSettings } from './settings.ts';
import { until } from './until.ts';

export interface WindowOptions {
  /** Absolute path of the folder to open; without it an empty window opens. */
  readonly folder?: string;
  /** Needs a server with the smoke-test driver; the last one of several wins. */
  readonly developmentPath?: string;
  readonly testsPath?: string;
  readonly payload?: readonly (readonly [string, string])[];
  /** Runs before the workbench loads, to expose functions to it. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export type ColourTheme =
  'Default Light Modern' | 'Default Dark Modern' | 'Default High Contrast' | 'Default High Contrast Light';

/** The name in VS Code's theme picker, and the class that the workbench then wears. */
const themes: Readonly<Record<ColourTheme, readonly [label: string, workbenchClass: string]>> = {
  'Default Light Modern': ['Light Modern', 'vs'],
  'Default Dark Modern': ['Dark Modern', 'vs-dark'],
  'Default High Contrast': ['Dark High Contrast', 'hc-black'],
  'Default High Contrast Light': ['Light High Contrast', 'hc-light'],
};

/** One VS Code window: the page of the workbench, and what a user does outside of the chat panel. */
export class VscodeWindow {
  readonly page: Page;
  readonly server: Server;
  /** Everything the page's console said, for the message of a failed test. */
  readonly console: string[] = [];

  constructor(page: Page, server: Server) {
    this.page = page;
    this.server = server;
    page.on('console', (message) => this.console.push(`${message.type()} ${message.text()}`));
    page.on('pageerror', (error) => this.console.push(`pageerror ${error.message}`));
  }

  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
    await this.page.locator('.statusbar-item').first().waitFor({ timeout: 60_000 });
  }

  /**
   * Runs a command by its full title in the palette ("Holdfast: New Chat"). The palette's list is a snapshot: a
   * command registered after it opened never shows, so it is opened again until the row is there: soon at first,
   * because a new window knows its commands within a second or two, and later with the patience that a busy machine needs.
   */
  async runCommand(title: string, timeout = 30_000): Promise<void> {
    const palette = this.page.locator('.quick-input-widget');
    const input = palette.locator('input.input');
    const row = palette.locator('.monaco-list-row').filter({ hasText: title }).first();
    let patience = 0;
    await until(
      async () => {
        patience += 500;
        await this.page.keyboard.press('F1');
        // On a busy machine the palette may be taken away again by what came before; then it is opened anew.
        if (
          (await inTime(input.waitFor({ timeout: patience }))) &&
          (await inTime(input.fill(`>${title}`, { timeout: patience }))) &&
          (await inTime(row.waitFor({ timeout: patience }))) &&
          (await inTime(row.click({ timeout: patience })))
        ) {
          return true;
        }
        await this.page.keyboard.press('Escape');
        return false;
      },
      { what: `the command "${title}" in the palette`, timeout },
    );
  }

  /** "Developer: Reload Window": the extension is deactivated and activated again, panels come back. */
  async reload(): Promise<void> {
    const navigated = this.page.waitForEvent('framenavigated', {
      predicate: (frame) => frame === this.page.mainFrame(),
      timeout: 60_000,
    });
    await this.runCommand('Developer: Reload Window');
    await navigated;
    await this.ready();
  }

  /** Loads the page again without asking VS Code, which is nearer to a crash than `reload`. */
  async reloadAbruptly(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  async close(): Promise<void> {
    await this.page.close();
  }

  /** The frame with the extension's own HTML: one `iframe.webview` per visible webview, and a second one inside. */
  webview(index = 0): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').nth(index).frameLocator('#active-frame');
  }

  editorTabs(title?: string): Locator {
    const tabs = this.page.locator('.tabs-container .tab');
    return title === undefined ? tabs : tabs.filter({ hasText: title });
  }

  async closeEditorTab(title: string): Promise<void> {
    const tab = this.editorTabs(title).first();
    await tab.hover();
    await tab.locator('.tab-actions .action-label').first().click();
  }

  /** Toasts; there are none under the smoke-test driver. */
  notifications(text?: string | RegExp): Locator {
    const toasts = this.page.locator('.notification-toast');
    return text === undefined ? toasts : toasts.filter({ hasText: text });
  }

  /** Answers the dialog for a folder, which is open, with this one. */
  async chooseFolder(folder: string, button: string | RegExp): Promise<void> {
    const dialog = this.page.locator('.quick-input-widget');
    const input = dialog.locator('input.input');
    const accept = dialog.getByRole('button', { name: button });
    const wanted = `${folder}/`;
    await accept.waitFor();
    // The dialog writes folders of its own first, on a busy machine also over the one that it was given.
    await until(
      async () => {
        if (!(await accept.isVisible())) return true;
        if ((await input.inputValue()) !== wanted) await input.fill(wanted);
        else if (await dialog.getByText('..').isVisible()) await inTime(accept.click({ timeout: 1000 }));
        return inTime(accept.waitFor({ state: 'hidden', timeout: 500 }));
      },
      { what: `the dialog to take ${folder}` },
    );
  }

  modalDialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  statusBarItem(name: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: name });
  }

  /**
   * Merges into the settings file and reloads the window, because the browser-hosted VS Code does not notice that the
   * file changed. Settings that a test needs from the start go to `startServer` instead.
   */
  async changeSettings(changes: Settings): Promise<void> {
    changeSettings(this.server.userDataDirectory, changes);
    await this.reload();
  }

  /** Switches at once, through VS Code's own picker; everything in the window stays as it is. */
  async setColourTheme(theme: ColourTheme): Promise<void> {
    const [label, workbenchClass] = themes[theme];
    await this.runCommand('Preferences: Color Theme');
    const palette = this.page.locator('.quick-input-widget');
    await palette.locator('input.input').fill(label);
    await palette.locator('.monaco-list-row').filter({ hasText: label }).first().click();
    await this.page.locator(`.monaco-workbench.${workbenchClass}`).waitFor({ timeout: 20_000 });
    await palette.waitFor({ state: 'hidden' });
  }
}

/** Whether a step of the browser's came about before its time was over. */
async function inTime(step: Promise<unknown>): Promise<boolean> {
  try {
    await step;
    return true;
  } catch (error) {
    if (error instanceof errors.TimeoutError) return false;
    throw error;
  }
}

/** Opens a window in the browser's context; the same context keeps what VS Code stores in the browser. */
export async function openWindow(
  context: BrowserContext,
  server: Server,
  options: WindowOptions = {},
): Promise<VscodeWindow> {
  const window = new VscodeWindow(await context.newPage(), server);
  await options.prepare?.(window.page);
  // tsx names inner functions with this helper, also in code that a test sends into the page.
  await window.page.addInitScript('globalThis.__name ??= (named) => named');
  await window.page.goto(windowAddress(server, options));
  await window.ready();
  return window;
}

/** The page's address; extension and test paths ride in its payload, as the web workbench reads them. */
function windowAddress(server: Server, options: WindowOptions): string {
  const address = new URL(server.address);
  const remote = (path: string) => `vscode-remote://127.0.0.1:${server.port}${path}`;
  if (options.folder === undefined) address.searchParams.set('ew', 'true');
  else address.searchParams.set('folder', options.folder);
  const payload: (readonly [string, string])[] = [['skipWelcome', 'true']];
  if (options.developmentPath !== undefined) {
    payload.push(['extensionDevelopmentPath', remote(options.developmentPath)]);
  }
  if (options.testsPath !== undefined) payload.push(['extensionTestsPath', remote(options.testsPath)]);
  address.searchParams.set('payload', JSON.stringify([...payload, ...(options.payload ?? [])]));
  return address.toString();
}
