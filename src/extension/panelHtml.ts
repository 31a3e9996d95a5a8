/** The HTML of a chat panel: nothing but the built page, under a policy that lets nothing else load or run. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

export interface PanelPage {
  readonly panelId: string;
  readonly sessionId: string;
}

/** `distribution` is the folder of the built assets, the only one the page may load from. */
export function panelHtml(webview: vscode.Webview, distribution: vscode.Uri, page: PanelPage): string {
  const nonce = randomBytes(16).toString('base64');
  const asset = (name: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(distribution, 'webview', name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${asset('styles.css')}">
<title>Holdfast Chat</title>
</head>
<body data-panel-id="${page.panelId}" data-session-id="${page.sessionId}">
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${asset('main.js')}"></script>
</body>
</html>`;
}
