/** Collects disposables where they are made, so that nothing is forgotten when their owner goes. */
import type * as vscode from 'vscode';

export class Disposables implements vscode.Disposable {
  readonly #items: vscode.Disposable[] = [];

  add<T extends vscode.Disposable>(item: T): T {
    this.#items.push(item);
    return item;
  }

  /** Disposes in reverse order of making. */
  dispose(): void {
    for (const item of this.#items.splice(0).reverse()) item.dispose();
  }
}
