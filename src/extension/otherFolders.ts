/**
 * Chat folders of another profile, another computer or an older copy, opened beside one's own. They are only ever read; which
 * ones there are is remembered for all windows of the profile.
 */
import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { StoreUnavailableError, systemErrorCode } from '../core/store/errors.ts';
import { nodeFiles } from '../core/store/fileLayer.ts';
import { loadEngine, type Engine } from '../core/store/openDatabase.ts';
import { listChats, type ChatRow } from '../core/store/sessions.ts';
import type { ReadTransaction } from '../core/store/transaction.ts';
import { withOtherFolder } from '../core/store/transfer/otherFolder.ts';
import type { SmallMemory } from './smallMemory.ts';

const key = 'holdfast.otherFolders';
const storedSchema = v.fallback(v.array(v.string()), []);

export interface OtherFoldersServices {
  /** The editor's memory of this extension, shared by the windows of the profile. */
  readonly memory: SmallMemory;
  /** The built file beside the extension. */
  readonly wasmFile: string;
  /** The folder of the window's own chats. */
  readonly ownFolder: () => string;
}

export class OtherFolders implements vscode.Disposable {
  readonly #services: OtherFoldersServices;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChange = this.#changed.event;
  #engine: Promise<Engine> | null = null;
  /** What was read of a folder: it costs opening all of it, so it stays until the user refreshes the list. */
  readonly #chats = new Map<string, { readonly limit: number; readonly rows: readonly ChatRow[] }>();

  constructor(services: OtherFoldersServices) {
    this.#services = services;
  }

  /** In the order in which they were opened. */
  get all(): readonly string[] {
    return v.parse(storedSchema, this.#services.memory.get(key));
  }

  /** Asks for a folder and remembers it. Throws an Error with a sentence for one that holds no chats, and StoreErrors. */
  async add(): Promise<void> {
    const uris = await vscode.window.showOpenDialog({
      title: 'Open another chat folder, read-only',
      canSelectFolders: true,
      canSelectFiles: false,
      openLabel: 'Open Read-Only',
    });
    const chosen = uris?.[0]?.fsPath;
    if (chosen === undefined) return;
    const folder = path.resolve(chosen);
    if (folder === path.resolve(this.#services.ownFolder())) {
      throw new Error(`${folder} is the folder of this window's own chats, which the list shows already.`);
    }
    try {
      await this.read(folder, () => Promise.resolve());
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      throw new Error(
        `${folder} holds no chats that can be read. Choose the folder that "Holdfast: Show Storage" names in the other profile or on the other computer.`,
        { cause: error },
      );
    }
    const others = this.all.filter((known) => known !== folder);
    await this.#services.memory.set(key, [...others, folder]);
    this.#changed.fire(undefined);
  }

  /** Takes the folder out of the list. It stays as it is. */
  async remove(folder: string): Promise<void> {
    this.#chats.delete(folder);
    await this.#services.memory.set(
      key,
      this.all.filter((known) => known !== folder),
    );
    this.#changed.fire(undefined);
  }

  /** Looks at every folder anew at the next need. */
  forget(): void {
    this.#chats.clear();
  }

  /** Null: it is there. Else why it cannot be read, in a few words. */
  async problemOf(folder: string): Promise<string | null> {
    try {
      await readdir(folder);
      return null;
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === null) throw error;
      return code === 'ENOENT' || code === 'ENOTDIR' ? 'not there' : `cannot be read (${code})`;
    }
  }

  /** Latest activity first, archived ones among them. Throws StoreErrors. */
  async chats(folder: string, limit: number): Promise<readonly ChatRow[]> {
    const known = this.#chats.get(folder);
    if (known !== undefined && known.limit >= limit) return known.rows.slice(0, limit);
    const rows = await this.read(folder, async (reader) => listChats(reader, { limit }));
    this.#chats.set(folder, { limit, rows });
    return rows;
  }

  /** Runs `use` with the folder's state as it is now; nothing in it is changed. Throws StoreErrors. */
  async read<T>(folder: string, use: (reader: ReadTransaction) => Promise<T>): Promise<T> {
    this.#engine ??= loadEngine(nodeFiles.readFile(this.#services.wasmFile));
    return withOtherFolder(folder, await this.#engine, use);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
