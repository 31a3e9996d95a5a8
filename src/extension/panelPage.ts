/** Puts the built page into a panel and hands on what it says, checked. */
import * as v from 'valibot';
import * as vscode from 'vscode';
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import { pageMessageSchema, type PageMessage } from '../core/protocol/pageMessages.ts';
import { panelHtml, type PanelPage } from './panelHtml.ts';

export interface PanelPageServices {
  /** The folder of the built assets. */
  readonly distribution: vscode.Uri;
  readonly log: (line: string) => void;
}

export function showPage(
  panel: vscode.WebviewPanel,
  { distribution, log }: PanelPageServices,
  page: PanelPage,
  handle: (message: PageMessage) => Promise<void>,
): void {
  const { webview } = panel;
  webview.options = {
    enableScripts: true,
    localResourceRoots: [vscode.Uri.joinPath(distribution, 'webview')],
    // Runs in the window, not in the extension host: the way out that is left when the host is gone.
    enableCommandUris: ['workbench.action.reloadWindow'],
  };
  const icon = (theme: string) => vscode.Uri.joinPath(distribution, '..', 'media', `panel-${theme}.svg`);
  panel.iconPath = { light: icon('light'), dark: icon('dark') };
  webview.onDidReceiveMessage((raw: unknown) => {
    const parsed = v.safeParse(pageMessageSchema, raw);
    if (parsed.success) {
      void handle(parsed.output);
      return;
    }
    log(`message of a page has the wrong shape: ${v.summarize(parsed.issues)}`);
    const notice: HostMessage = {
      type: 'notice',
      message: 'The panel sent something this version does not understand. Reload the window to go on.',
    };
    void webview.postMessage(notice);
  });
  webview.html = panelHtml(webview, distribution, page);
}
