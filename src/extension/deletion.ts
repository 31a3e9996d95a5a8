/** **Delete Permanently** with its time to take it back, and what is told of files that it does not touch. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import { PendingDeletions, undoMs } from '../core/runtime/pendingDeletions.ts';
import { messageOf } from '../core/runtime/problems.ts';
import { systemTimers } from '../core/runtime/timers.ts';
import { lineageMembers } from '../core/store/lineage.ts';
import type { CoreAccess } from './core.ts';
import type { ChatPanels } from './panels.ts';

export interface DeletionServices {
  readonly core: CoreAccess;
  readonly panels: ChatPanels;
  readonly log: (line: string) => void;
}

export class Deletions implements vscode.Disposable {
  readonly #services: DeletionServices;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #pending: PendingDeletions;
  readonly onDidChange = this.#changed.event;

  constructor(services: DeletionServices) {
    this.#services = services;
    this.#pending = new PendingDeletions({
      timers: systemTimers,
      remove: (sessionId) => this.#remove(sessionId),
      onChange: () => this.#changed.fire(undefined),
    });
  }

  /** Whether the list leaves the chat out. */
  isPending(sessionId: string): boolean {
    return this.#pending.has(sessionId);
  }

  /**
   * Asks, hides the chat at once and deletes it unless the user takes it back. It asks in a dialog because the notification with
   * Undo does not show while the user wants not to be disturbed.
   */
  async start(sessionId: string, title: string): Promise<void> {
    const { registry } = await this.#services.core.get();
    registry.refuseDeletion(sessionId);
    const erase = 'Delete Permanently';
    const detail =
      'Its messages are removed from this computer. To put it away and keep it, archive it instead.';
    const options = { modal: true, detail };
    if ((await vscode.window.showWarningMessage(`Delete "${title}"?`, options, erase)) !== erase) return;
    this.#pending.start(sessionId);
    const undo = 'Undo';
    const answer = await vscode.window.showInformationMessage(
      `"${title}" is deleted permanently in ${undoMs / 1000} seconds.`,
      undo,
    );
    if (answer === undo && !this.#pending.undo(sessionId)) {
      await vscode.window.showWarningMessage(`"${title}" was deleted already and cannot be brought back.`);
    }
  }

  dispose(): void {
    this.#pending.dispose();
    this.#changed.dispose();
  }

  async #remove(sessionId: string): Promise<void> {
    const { core, panels, log } = this.#services;
    try {
      const { store, registry } = await core.get();
      const rows = store.read((reader) => lineageMembers(reader, sessionId));
      await registry.delete(sessionId);
      void this.#purge(store);
      await panels.deleted(rows);
    } catch (error) {
      log(`chat ${sessionId} was not deleted: ${messageOf(error)}`);
      void vscode.window.showErrorMessage(`The chat was not deleted. ${messageOf(error)}`);
    }
  }

  async #purge(store: { folder: string; purge(): Promise<string[]> }): Promise<void> {
    try {
      const left = await store.purge();
      if (left.length === 0) return;
      void vscode.window.showWarningMessage(
        `The chat was deleted, but these files in ${store.folder} may still hold its text: ${left.map((name) => path.normalize(name)).join(', ')}. Damaged files are kept until you delete them yourself.`,
      );
    } catch (error) {
      this.#services.log(`what was deleted is still in the files: ${messageOf(error)}`);
      void vscode.window.showWarningMessage(
        `The chat was deleted, but its text is still in the files of the chat storage (${messageOf(error)}). It goes when Holdfast starts the next time.`,
      );
    }
  }
}
