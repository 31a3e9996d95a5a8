/** The extension's entry. `activate` only registers; the store opens at first need. */
import type * as vscode from 'vscode';
import type { HoldfastApi } from './api.ts';
import { createApp, type App } from './app.ts';

let app: App | null = null;

/** Returns the API for other extensions. */
export function activate(context: vscode.ExtensionContext): HoldfastApi {
  const start = performance.now();
  app = createApp(context);
  context.subscriptions.push(app);
  // Shown by the editor's own tools, and held to its bar by a test in the host.
  performance.measure('holdfast.activate', { start, end: performance.now() });
  return app.api;
}

/** Has about five seconds, and no editor API that needs the window: only Node's own file system works here. */
export async function deactivate(): Promise<void> {
  await app?.close();
  app = null;
}
