/** What every fault is tried on: a folder with one chat, a window, and the texts that were acknowledged. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runCheckpoint } from '../../../../src/core/store/checkpoint.ts';
import { unreadableContents } from '../../../../src/core/session/text.ts';
import { nodeFiles } from '../../../../src/core/store/fileLayer.ts';
import { describeFault, listFaults } from '../../../../src/core/store/faults.ts';
import { loadEngine } from '../../../../src/core/store/openDatabase.ts';
import { insertMessage, listMessages } from '../../../../src/core/store/messages.ts';
import { requireSession } from '../../../../src/core/store/sessions.ts';
import type { Store } from '../../../../src/core/store/store.ts';
import { addChat, addText, makeFolder, openStore, textsOf } from '../support/stores.ts';
import { aMessage, wasmFile } from '../support/values.ts';
import { FaultyFiles } from './faultyFiles.ts';

export class Stage {
  readonly faulty = new FaultyFiles();
  readonly acknowledged: string[] = [];
  readonly folder: string;
  store: Store;
  /** What the window said of files that it made again. */
  readonly healed: string[] = [];
  /** Added to the clock, in milliseconds. */
  clockError = 0;
  readonly #chatId: string;

  private constructor(folder: string, store: Store, chatId: string) {
    this.folder = folder;
    this.store = store;
    this.#chatId = chatId;
  }

  static async make(folder = makeFolder()): Promise<Stage> {
    const first = await openStore({ folder });
    const chat = await addChat(first);
    await first.close();
    const stage = new Stage(folder, first, chat.id);
    await stage.open();
    for (const text of ['one', 'two', 'three']) await stage.write(text);
    return stage;
  }

  /** Another window, after the one before was closed or died. */
  async open(): Promise<void> {
    const engine = await loadEngine(fs.readFileSync(wasmFile));
    this.store = await openStore({
      folder: this.folder,
      files: this.faulty.layer,
      markDelay: 0,
      onHealed: (what) => this.healed.push(this.#plain(what)),
      now: () => Date.now() + this.clockError,
      runCheckpoint: async (job, isWindowAlive) =>
        runCheckpoint({ files: this.faulty.layer, engine, now: Date.now(), isWindowAlive }, job),
    });
  }

  async write(text: string): Promise<void> {
    const createdAt = Date.now() + this.clockError;
    await this.store.write((writer) => insertMessage(writer, aMessage(this.#chatId, { text, createdAt })));
    this.acknowledged.push(text);
  }

  /** The sentence with which the write is refused. */
  async refused(text = 'refused'): Promise<string> {
    try {
      await this.store.write(addText(this.#chatId, text));
    } catch (error) {
      assert.ok(error instanceof Error);
      return this.#plain(error.message);
    }
    return assert.fail('the write was not refused');
  }

  /** When the chat was last active, by the store. Unix time in milliseconds. */
  lastActivityAt(): number {
    return this.store.read((reader) => requireSession(reader, this.#chatId)).lastActivityAt;
  }

  texts(): string[] {
    return textsOf(this.store, this.#chatId);
  }

  /** Nothing that was acknowledged is missing: here, and in a window that opens the folder anew. */
  async keepsAll(): Promise<void> {
    const here = this.texts();
    assert.deepEqual(
      this.acknowledged.filter((text) => !here.includes(text)),
      [],
      'lost here',
    );
    await this.store.close();
    await this.open();
    const anew = this.texts();
    assert.deepEqual(
      this.acknowledged.filter((text) => !anew.includes(text)),
      [],
      'lost on disk',
    );
    assert.equal(new Set(anew).size, anew.length, 'something is there twice');
  }

  /** The cause is gone: writes go on, and nothing that was acknowledged is missing. */
  async resumes(): Promise<void> {
    this.faulty.heal();
    await this.write('after');
    await this.keepsAll();
  }

  /** What is missing after a salvage is told, and is no more than what is not there. */
  toldLosses(): string {
    const faults = this.store.read(listFaults);
    const count = faults.reduce(
      (sum, { missing, failed }) => sum + missing.reduce((all, [from, to]) => all + to - from + 1, failed),
      0,
    );
    const here = this.texts();
    const lost = this.acknowledged.filter((text) => !here.includes(text));
    assert.ok(count >= lost.length && count > 0, `${lost.length} are lost, ${count} are told`);
    this.acknowledged.splice(0, Infinity, ...this.acknowledged.filter((text) => here.includes(text)));
    const told = faults.map((fault) => this.#plain(describeFault(fault, this.folder)));
    // What of it is the same each time; the files' names and the counts are not.
    return told
      .join(' ')
      .replace(/\d+ could/g, 'N could')
      .replace(/: (journal|state)-.*$/, '.');
  }

  /** What stands in the place of messages that cannot be read. */
  unreadable(): string {
    const messages = this.store.read((reader) => listMessages(reader, this.#chatId));
    assert.equal(messages.filter(({ contents }) => contents === 'unreadable').length, 1);
    return unreadableContents;
  }

  file(pattern: RegExp, inside = '.'): string {
    const folder = path.join(this.folder, inside);
    const name = fs
      .readdirSync(folder)
      .filter((other) => pattern.test(other))
      .sort()
      .at(-1);
    assert.ok(name !== undefined, `no file ${String(pattern)}`);
    return path.join(folder, name);
  }

  change(pattern: RegExp, change: (bytes: Buffer) => Uint8Array): void {
    const file = this.file(pattern);
    fs.writeFileSync(file, change(Buffer.from(nodeFiles.readFile(file))));
  }

  #plain(message: string): string {
    return message.replaceAll(this.folder, 'FOLDER');
  }
}
