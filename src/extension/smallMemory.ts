/**
 * The editor's own memory of the extension, for small facts about the window. The editor loads all of it at its start and for
 * every window: chats, and what belongs to them, go to the store (field report B54). Nothing else may use a Memento (ESLint).
 */
import type * as vscode from 'vscode';

/** UTF-16 units of JSON. */
const longest = 20_000;

export class SmallMemory {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  /** To be parsed by the caller; undefined: nothing was kept. */
  get(key: string): unknown {
    return this.#memento.get<unknown>(key);
  }

  /** Rejects with an Error, and keeps what was there, when the value is not small. */
  async set(key: string, value: object): Promise<void> {
    const { length } = JSON.stringify(value);
    if (length > longest) {
      throw new Error(
        `These are too many to be remembered (${length} of ${longest} characters). Remove some of them first.`,
      );
    }
    await this.#memento.update(key, value);
  }
}

/** `profile`: of all windows of the profile; `workspace`: of those on this workspace. */
export function smallMemories(
  context: vscode.ExtensionContext,
): Readonly<Record<'profile' | 'workspace', SmallMemory>> {
  return {
    profile: new SmallMemory(context.globalState),
    workspace: new SmallMemory(context.workspaceState),
  };
}
