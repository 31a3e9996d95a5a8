/** The core behind the editor, opened at first need and never on the way of activation. */
import type { PanelRoutes } from '../core/runtime/panelRoutes.ts';
import type { RuntimeRegistry } from '../core/runtime/registry.ts';
import type { Store } from '../core/store/store.ts';

export interface Core {
  readonly store: Store;
  readonly registry: RuntimeRegistry;
  readonly routes: PanelRoutes;
}

/**
 * Opens the core once. A failed opening is not remembered: the next need tries again, so that a folder that becomes
 * writable, or a disk that has space again, heals without a reload.
 */
export class CoreAccess {
  readonly #open: () => Promise<Core>;
  #opening: Promise<Core> | null = null;
  #core: Core | null = null;
  #closing: Promise<void> | null = null;
  readonly #listeners = new Set<(core: Core) => void>();

  constructor(open: () => Promise<Core>) {
    this.#open = open;
  }

  /** The opened core, or null while there is none, and from the moment when it is closed. */
  get current(): Core | null {
    return this.#core;
  }

  /** Rejects with the store's error, which names the cause and the way out. */
  get(): Promise<Core> {
    this.#opening ??= this.#open().then(
      (core) => {
        this.#core = core;
        for (const listener of this.#listeners) listener(core);
        return core;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }

  onDidOpen(listener: (core: Core) => void): void {
    this.#listeners.add(listener);
  }

  /** Writes what waits and closes; for `deactivate`, which has about five seconds and no editor API left. Again: the same closing. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#opening === null) return;
    const core = await this.#opening.catch(() => null); // opening failed: there is nothing to close
    if (core === null) return;
    this.#core = null; // nobody needs a chat any more: a panel whose runtime is given back now must not open it again
    await core.registry.shutDown();
    try {
      await core.routes.release();
    } finally {
      await core.store.close();
    }
  }
}
