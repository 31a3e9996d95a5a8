/** The extension's entry. `activate` only registers; the store opens at first need. */
import type * as vscode from 'vscode';
import { createApp, type App } from './app.ts';

let app: App | null = null;

export function activate(context: vscode.ExtensionContext): void {
  app = createApp(context);
  context.subscriptions.push(app);
}

/** Has about five seconds, and no editor API that needs the window: only Node's own file system works here. */
export async function deactivate(): Promise<void> {
  await app?.close();
  app = null;
}
