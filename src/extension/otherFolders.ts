/**
 * Chat folders of another profile, another computer or an older copy, opened beside one's own. They are only ever read, and
 * followed while somebody looks; which ones there are is remembered for all windows of the profile.
 */
import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { messageOf } from '../core/runtime/problems.ts';
import { StoreUnavailableError, systemErrorCode } from '../core/store/errors.ts';
import { nodeFiles } from '../core/store/fileLayer.ts';
import { loadEngine, type Engine } from '../core/store/openDatabase.ts';
import { listChats, type ChatRow } from '../core/store/sessions.ts';
import type { Store } from '../core/store/store.ts';
import type { ReadTransaction } from '../core/store/transaction.ts';
import { followOtherFolder, withOtherFolder } from '../core/store/transfer/otherFolder.ts';
import { Disposables } from './disposables.ts';
import { followByFocus } from './followByFocus.ts';
import { Pace } from './pace.ts';
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
  readonly log: (line: string) => void;
}

/** A folder that is open. */
interface Opened {
  readonly store: Promise<Store>;
  /** Who looks at it: the list, panels. */
  readonly users: Set<object>;
  /** What follows it. */
  readonly following: Disposables;
}

export class OtherFolders implements vscode.Disposable {
  readonly #services: OtherFoldersServices;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChange = this.#changed.event;
  #engine: Promise<Engine> | null = null;
  readonly #opened = new Map<string, Opened>();
  readonly #pace = new Pace(() => this.#changed.fire(undefined));

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
    this.unlist(folder);
    await this.#services.memory.set(
      key,
      this.all.filter((known) => known !== folder),
    );
    this.#changed.fire(undefined);
  }

  /** The list shows none of the folder's chats any more. */
  unlist(folder: string): void {
    this.letGo(folder, this);
  }

  /** The list looks at every folder anew at the next need. */
  unlistAll(): void {
    for (const folder of this.#opened.keys()) this.unlist(folder);
  }

  /**
   * The folder's store, only to be read; its changes are told as they are made, until every user has let go of it. Throws
   * StoreErrors.
   */
  async use(folder: string, user: object): Promise<Store> {
    const opened = this.#opened.get(folder) ?? this.#open(folder);
    opened.users.add(user);
    try {
      return await opened.store;
    } catch (error) {
      if (this.#opened.get(folder) === opened) this.#opened.delete(folder);
      throw error;
    }
  }

  /** Closes the folder when this was its last user; does nothing for who is none. */
  letGo(folder: string, user: object): void {
    const opened = this.#opened.get(folder);
    if (opened?.users.delete(user) !== true || opened.users.size > 0) return;
    this.#opened.delete(folder);
    void this.#close(opened);
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
    const store = await this.use(folder, this);
    return store.read((reader) => listChats(reader, { limit }));
  }

  /** Runs `use` with the folder's state as it is now; nothing in it is changed. Throws StoreErrors. */
  async read<T>(folder: string, use: (reader: ReadTransaction) => Promise<T>): Promise<T> {
    this.#engine ??= loadEngine(nodeFiles.readFile(this.#services.wasmFile));
    return withOtherFolder(folder, await this.#engine, use);
  }

  dispose(): void {
    this.#pace.dispose();
    for (const opened of this.#opened.values()) void this.#close(opened);
    this.#opened.clear();
    this.#changed.dispose();
  }

  #open(folder: string): Opened {
    const { wasmFile, log } = this.#services;
    const following = new Disposables();
    const open = async (): Promise<Store> => {
      const store = await followOtherFolder(folder, { wasm: wasmFile, log });
      store.onDidChange(() => this.#pace.soon());
      following.add(followByFocus(store));
      return store;
    };
    const opened = { store: open(), users: new Set<object>(), following };
    this.#opened.set(folder, opened);
    return opened;
  }

  async #close({ store, following }: Opened): Promise<void> {
    try {
      const opened = await store;
      following.dispose();
      await opened.close();
    } catch (error) {
      this.#services.log(`another chat folder is not closed: ${messageOf(error)}`);
    }
  }
}
