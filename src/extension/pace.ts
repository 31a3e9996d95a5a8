/** Changes come in bursts while answers stream; what shows them follows at a pace. */
import type * as vscode from 'vscode';

const paceMs = 250;

export class Pace implements vscode.Disposable {
  readonly #run: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Runs it after a moment, once for all calls until then. */
  soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, paceMs);
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
