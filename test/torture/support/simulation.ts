/**
 * Writers on one disk in memory, in one thread, so that every interleaving can be had and repeated by its seed. The state is a
 * list of texts in one chat; what each writer was acknowledged is remembered and compared.
 */
import * as assert from 'node:assert/strict';
import * as path from 'node:path';
import { ulid } from 'ulid';
import type { Message } from '../../../src/core/session/model.ts';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { listFaults } from '../../../src/core/store/faults.ts';
import { insertMessage, listMessages } from '../../../src/core/store/messages.ts';
import type { Engine } from '../../../src/core/store/openDatabase.ts';
import type { ProcessProbe } from '../../../src/core/store/processProbe.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { Store } from '../../../src/core/store/store.ts';
import { aMessage, aSession } from '../../core/store/support/values.ts';
import { MemoryDisk, type MemoryHandle } from './memoryDisk.ts';
import type { Random } from './random.ts';

export const folder = path.resolve('/store');
const sessionId = 'the-session';

export interface World {
  readonly engine: Engine;
  readonly wasm: Uint8Array;
}

export interface Writer {
  readonly store: Store;
  readonly files: MemoryHandle;
  readonly windowId: string;
}

/** Lets every promise that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve();
}

export class Simulation {
  disk: MemoryDisk;
  readonly writers: Writer[] = [];
  /** Texts that were acknowledged, in no order. */
  readonly acknowledged = new Set<string>();
  /** Every text that some writer tried to add. */
  readonly attempted = new Set<string>();
  readonly errors: string[] = [];
  readonly #world: World;
  readonly #random: Random;
  readonly #alive = new Set<string>();
  #count = 0;
  #isInterfering = false;

  constructor(world: World, disk: MemoryDisk, random: Random) {
    this.#world = world;
    this.disk = disk;
    this.#random = random;
  }

  /** A disk with one migrated, empty chat on it. */
  static async begin(world: World): Promise<Map<string, Buffer>> {
    const disk = new MemoryDisk();
    const simulation = new Simulation(world, disk, new (await import('./random.ts')).Random(1));
    const writer = await simulation.open();
    const written = writer.store.write((transaction) =>
      insertSession(transaction, aSession({ id: sessionId })),
    );
    await simulation.drain();
    await written;
    await simulation.end();
    return disk.contents();
  }

  /** `followInterval` and `patience`: see StoreOptions; 0 keeps everything repeatable. */
  async open(followInterval = 0, patience = 0): Promise<Writer> {
    const files = this.disk.handle();
    const windowId = `window-${(this.#count += 1)}-${ulid()}`;
    this.#alive.add(windowId);
    const probe: ProcessProbe = {
      pid: this.#count,
      start: windowId,
      host: 'here',
      isRunning: (_, start) => start !== null && this.#alive.has(start),
      isInUse: (pid) => [...this.#alive].some((id) => id.startsWith(`window-${pid}-`)),
    };
    const { engine, wasm } = this.#world;
    const opening = Store.open({
      folder,
      wasm,
      checkpointWorkerFile: null,
      windowId,
      files,
      probe,
      followInterval,
      markDelay: 0,
      journalLimit: 3000,
      patience,
      now: () => this.disk.now,
      runCheckpoint: async (job, isWindowAlive) => {
        if (!files.isDead) runCheckpoint({ files, engine, now: this.disk.now, isWindowAlive }, job);
        await Promise.resolve();
      },
    });
    const store = await this.#withSyncs(opening);
    const writer = { store, files, windowId };
    this.writers.push(writer);
    files.beforeAppend = () => this.#interfere(writer);
    return writer;
  }

  /** Adds a text without waiting for the acknowledgement. */
  add(writer: Writer, size = 40, least = 0): void {
    const text = `${this.#count}.${this.attempted.size} ${'x'.repeat(least + this.#random.below(size))}`;
    this.attempted.add(text);
    const message = aMessage(sessionId, { text });
    const written = writer.store.write((transaction) => insertMessage(transaction, message));
    written.then(
      () => {
        if (!writer.files.isDead) this.acknowledged.add(text);
      },
      (error: unknown) => {
        if (!writer.files.isDead) this.errors.push(String(error));
      },
    );
  }

  async checkpoint(writer: Writer): Promise<void> {
    await this.#withSyncs(writer.store.checkpoint());
  }

  completeSomeSync(): void {
    const { pendingSyncs } = this.disk;
    if (pendingSyncs > 0) this.disk.completeSync(this.#random.below(pendingSyncs));
  }

  async drain(): Promise<void> {
    await settle();
    while (this.disk.pendingSyncs > 0) {
      this.disk.completeSync(0);
      await settle();
    }
  }

  /** The process dies: nothing more of it reaches the disk, what it wrote stays. */
  async kill(writer: Writer): Promise<void> {
    writer.files.isDead = true;
    this.#alive.delete(writer.windowId);
    this.writers.splice(this.writers.indexOf(writer), 1);
    await this.#withSyncs(writer.store.close());
  }

  async powerCut(): Promise<void> {
    const next = this.disk.afterPowerCut(this.#random);
    for (const writer of this.writers) writer.files.isDead = true;
    for (const writer of [...this.writers]) await this.kill(writer);
    this.disk = next;
  }

  async end(): Promise<void> {
    for (const writer of [...this.writers]) {
      await this.drain();
      this.writers.splice(this.writers.indexOf(writer), 1);
      await this.#withSyncs(writer.store.close());
      this.#alive.delete(writer.windowId);
    }
  }

  /** A text that is kept in a blob. */
  addLarge(writer: Writer): void {
    this.add(writer, 1000, 300_000);
  }

  async tidy(writer: Writer): Promise<void> {
    await this.#withSyncs(writer.store.tidy());
  }

  /** Of the messages that can be read. */
  textsOf(writer: Writer): string[] {
    return this.#messages(writer).flatMap(({ contents, text }) => (contents === 'here' ? [text] : []));
  }

  /** How many messages say that they cannot be read. */
  unreadableIn(writer: Writer): number {
    return this.#messages(writer).filter(({ contents }) => contents === 'unreadable').length;
  }

  /** Throws if something acknowledged is missing, something is there twice or out of order, or windows disagree. */
  check(writer: Writer, hint: string): string[] {
    assert.equal(this.unreadableIn(writer), 0, `${hint}: a message cannot be read`);
    const texts = this.textsOf(writer);
    const present = new Set(texts);
    assert.equal(present.size, texts.length, `${hint}: something is there twice`);
    const missing = [...this.acknowledged].filter((text) => !present.has(text));
    assert.deepEqual(missing, [], `${hint}: acknowledged and lost`);
    for (const text of texts) assert.ok(this.attempted.has(text), `${hint}: ${text} was never written`);
    assert.deepEqual(
      writer.store.read(listFaults).map(({ missing: ranges }) => ranges),
      [],
      `${hint}: salvaged without damage`,
    );
    return texts;
  }

  #messages(writer: Writer): Message[] {
    return writer.store.read((reader) => listMessages(reader, sessionId));
  }

  /** Another writer commits between this one's catch-up and its append. */
  #interfere(writer: Writer): void {
    if (this.#isInterfering || !this.#random.chance(0.2)) return;
    const others = this.writers.filter((other) => other !== writer);
    if (others.length === 0) return;
    this.#isInterfering = true;
    try {
      this.add(this.#random.pick(others));
    } finally {
      this.#isInterfering = false;
    }
  }

  async #withSyncs<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = promise.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) {
      await settle();
      if (!isDone && this.disk.pendingSyncs > 0) this.disk.completeSync(0);
      else if (!isDone) await new Promise((resolve) => setImmediate(resolve));
    }
    return done;
  }
}
