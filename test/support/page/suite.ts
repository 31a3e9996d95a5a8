/** What every suite of the page needs: one browser and one server, and nothing left over after a test. */
import type { Browser } from 'playwright-core';
import { closeBrowser, findBrowser, launchBrowser } from '../vscode/browser.ts';
import { skipBecause } from '../vscode/skip.ts';
import { PageServer } from './pageServer.ts';
import { openPanel, type OpenOptions, type PanelPage } from './panelPage.ts';
import assert from 'node:assert/strict';

export interface PageSuite {
  open(options?: OpenOptions): Promise<PanelPage>;
}

/** Call inside `describe`. */
export function pageSuite(): PageSuite {
  let browser: Browser | undefined;
  let server: PageServer | undefined;
  const panels: PanelPage[] = [];

  before(async function () {
    if (findBrowser() === undefined) skipBecause(this, 'no Chromium, Chrome or Edge is installed');
    server = await PageServer.start();
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const panel of panels.splice(0)) {
      const violations: unknown = panel.page.isClosed() ? [] : await panel.page.evaluate('window.violations');
      await panel.page.context().close();
      assert.deepEqual({ errors: panel.errors, violations }, { errors: [], violations: [] });
    }
  });
  after(async () => {
    if (browser !== undefined) await closeBrowser(browser);
    await server?.stop();
  });

  return {
    open: async (options) => {
      if (browser === undefined || server === undefined) throw new Error('The suite has not started');
      const panel = await openPanel(browser, server, options);
      panels.push(panel);
      return panel;
    },
  };
}
