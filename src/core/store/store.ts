/**
 * The store: one truth, shared by every window, durable per message.
 *
 * `read` and the first four steps of `write` are synchronous. What `write` changed is visible to `read` at once; its promise
 * resolves when it is on disk, and from then on it survives the death of any process and a power cut.
 *
 *     const store = await Store.open({ folder, wasm, checkpointWorkerFile, windowId });
 *     await store.write((writer) => insertMessage(writer, message));
 *     const chats = store.read((reader) => listSessions(reader, { limit: 50 }));
 *     await store.close();
 *
 * The functions on tables (sessions.ts, messages.ts, …) take the transaction, so one transaction can span tables. A function
 * given to `write` may run several times (when another window was faster) and must be free of side effects.
 */
import { readerOf } from './blobFile.ts';
import { Blobs } from './blobs.ts';
import { Changes, type StoreChange } from './changes.ts';
import { workerRunner, type CheckpointRunner } from './checkpointRunner.ts';
import { Committer, type Committed } from './commit.ts';
import { lastDeletionSeq } from './deletion.ts';
import { Durability } from './durability.ts';
import {
  isForbidden,
  isNoSpace,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreReadOnlyError,
  StoreReplayError,
  StoreStatementError,
  StoreUnavailableError,
  systemErrorCode,
  toWriteError,
} from './errors.ts';
import { nodeFiles, type FileLayer } from './fileLayer.ts';
import { Generations } from './generations.ts';
import type { Journal } from './journal.ts';
import { describeHealed, LiveReplica } from './liveReplica.ts';
import { writeMark } from './mark.ts';
import { migrate, readSchemaVersion, schemaVersion } from './migrations.ts';
import { loadEngine, type Engine } from './openDatabase.ts';
import type { Request } from './replica.ts';
import { Presence } from './presence.ts';
import { oldFiles, purge } from './purge.ts';
import { Reserve } from './reserve.ts';
import { systemProbe } from './processProbe.ts';
import {
  defaultJournalLimit,
  defaultMarkDelay,
  defaultPatience,
  defaultTidyInterval,
  focusedFollowInterval,
  type StoreOptions,
} from './storeOptions.ts';
import { Tidy } from './tidy.ts';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';
import { makeTransactionIds } from './transactionIds.ts';

/** Milliseconds of a long catch-up at a time. */
const sliceBudget = 5;
/** Milliseconds without a commit before the tidy works. */
const idleBeforeTidy = 2000;

/** What the constructor is given: everything with its default. */
interface Parts {
  readonly options: StoreOptions;
  readonly files: FileLayer;
  readonly engine: Engine;
  readonly runner: CheckpointRunner | null;
  readonly isReadOnly: boolean;
  readonly presence: Presence;
  readonly log: (line: string) => void;
  readonly clock: () => number;
  readonly makeId: () => string;
}

/** Told about what happens to the replica; set once the store is made. */
interface ReplicaEvents {
  onLeave: (left: Journal) => void;
  onGeneration: (sealedBy: string | null) => void;
  onAdvance: (seq: number) => void;
}

export class Store {
  readonly folder: string;
  readonly windowId: string;
  readonly #parts: Parts;
  readonly #live: LiveReplica;
  readonly #changes: Changes;
  readonly #durability: Durability;
  readonly #blobs: Blobs;
  readonly #committer: Committer;
  readonly #generations: Generations;
  readonly #tidy: Tidy;
  readonly #reserve: Reserve;
  /** The window goes: see lastWords. */
  #isLeaving = false;
  #isClosed = false;
  #isReadOnly: boolean;
  /** The attempt to write that is going on in a folder that could not be written to. */
  #unlocking: Promise<void> | null = null;
  #followInterval: number;
  #followTimer: NodeJS.Timeout | null = null;
  /** What the last look ran into, so that it is logged once; null: nothing. */
  #followFailure: string | null = null;
  #markTimer: NodeJS.Timeout | null = null;
  #markWrite: Promise<void> = Promise.resolve();
  #isAnswering = false;

  private constructor(parts: Parts, live: LiveReplica, events: ReplicaEvents, left: readonly Journal[]) {
    const { options, files, log, clock, makeId, presence, runner } = parts;
    const { folder, windowId } = options;
    this.#parts = parts;
    this.#live = live;
    this.folder = folder;
    this.windowId = windowId;
    this.#isReadOnly = parts.isReadOnly;
    this.#followInterval = options.followInterval ?? focusedFollowInterval;
    this.#changes = new Changes(log);
    this.#durability = new Durability(
      {
        files,
        current: () => ({ journal: live.replica.journal, seq: live.replica.position.seq }),
        recover: (error) => this.#recover(error),
        onDurable: () => this.#scheduleMark(),
      },
      // What was read may be in the page cache only: it is synced before anything rests on it.
      live.replica.durable,
    );
    this.#reserve = new Reserve({ files, folder, clock, log });
    const durability = this.#durability;
    this.#blobs = new Blobs({ files, folder, windowId, makeId });
    this.#committer = new Committer({
      folder,
      live,
      makeId,
      blobs: this.#blobs,
      durable: () => durability.seq,
      onAppended: (seq) => durability.begin(seq),
    });
    this.#generations = new Generations({
      files,
      folder,
      windowId,
      live,
      committer: this.#committer,
      durability,
      presence,
      blobs: this.#blobs,
      runner,
      clock,
      now: options.now ?? Date.now,
      log,
      journalLimit: options.journalLimit ?? defaultJournalLimit,
    });
    this.#tidy = new Tidy({
      blobs: this.#blobs,
      read: (use) => this.read(use),
      write: (change) => this.write(change),
      generation: () => this.generation,
      isDue: () => this.#isTidyDue(),
      interval: options.tidyInterval ?? defaultTidyInterval,
      now: options.now ?? Date.now,
      log,
    });
    events.onLeave = (journal) => this.#leave(journal);
    events.onGeneration = (sealedBy) => this.#generations.moved(sealedBy);
    events.onAdvance = (seq) => {
      durability.learn(live.replica.durable);
      this.#changes.announce('other', seq);
    };
    for (const journal of left) this.#leave(journal);
  }

  /**
   * Opens the folder, making it if needed, repairs it if it is damaged, and brings the schema up to date. Throws
   * StoreUnavailableError, StoreDamagedError (another window holds the chats but does not answer) and StoreOutdatedError. A
   * folder that can only be read opens with `isReadOnly`; each change tries again whether it can be written to by now.
   */
  static async open(options: StoreOptions): Promise<Store> {
    const files = options.files ?? nodeFiles;
    const wasm = typeof options.wasm === 'string' ? files.readFile(options.wasm) : options.wasm;
    const engine = await loadEngine(wasm);
    const { folder } = options;
    if (options.access !== 'read') {
      try {
        files.makeFolder(folder);
        return await Store.#openAs(options, files, engine, wasm, false);
      } catch (error) {
        if (error instanceof StoreError) throw error;
        if (isNoSpace(error)) throw toWriteError(folder, error);
        if (!isForbidden(error)) {
          throw new StoreUnavailableError(folder, systemErrorCode(error) ?? String(error), error);
        }
      }
    }
    try {
      return await Store.#openAs(options, files, engine, wasm, true);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreUnavailableError(folder, systemErrorCode(error) ?? String(error), error);
    }
  }

  static async #openAs(
    options: StoreOptions,
    files: FileLayer,
    engine: Engine,
    wasm: Uint8Array,
    isReadOnly: boolean,
  ): Promise<Store> {
    const log = options.log ?? (() => undefined);
    const clock = options.clock ?? (() => performance.now());
    const now = options.now ?? Date.now;
    const makeId = options.makeId ?? makeTransactionIds();
    const { folder, windowId, checkpointWorkerFile } = options;
    const probe = options.probe ?? systemProbe();
    const presence = new Presence({ files, folder, windowId, clock, probe, log });
    const worker = checkpointWorkerFile === null ? null : workerRunner(checkpointWorkerFile, wasm, now);
    const runner = options.runCheckpoint ?? worker;
    const left: Journal[] = [];
    const events: ReplicaEvents = {
      onLeave: (journal) => left.push(journal),
      onGeneration: () => undefined,
      onAdvance: () => undefined,
    };
    if (!isReadOnly) presence.start();
    try {
      const live = await LiveReplica.open({
        files,
        folder,
        engine,
        windowId,
        presence,
        now,
        log,
        clock,
        makeId,
        access: isReadOnly ? 'read' : 'append',
        patience: options.patience ?? defaultPatience,
        onLeave: (journal) => events.onLeave(journal),
        onGeneration: (sealedBy) => events.onGeneration(sealedBy),
        onHealed: (cause) => options.onHealed?.(describeHealed(cause, folder)),
        onAdvance: (seq) => events.onAdvance(seq),
      });
      const parts = { options, files, engine, runner, isReadOnly, presence, log, clock, makeId };
      const store = new Store(parts, live, events, left);
      await store.#prepare();
      return store;
    } catch (error) {
      presence.stop();
      throw error;
    }
  }

  /** True: the folder could not be written to yet; reading works. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** The newest sequence number this window holds. */
  get seq(): number {
    return this.#live.replica.position.seq;
  }

  /** The highest sequence number known to be on disk. */
  get durableSeq(): number {
    return this.#durability.seq;
  }

  /** The generation whose journal is being written. */
  get generation(): number {
    return this.#live.replica.journal.generation;
  }

  /** Why nothing can be written at the moment, or null. After a replay error it stays until the window is reloaded. */
  get failure(): StoreError | null {
    return this.#live.damage;
  }

  /** Whether a window may still write (presence files); one of which that is not known counts as alive. */
  isWindowAlive(windowId: string): boolean {
    return this.#parts.presence.isAlive(windowId);
  }

  /** The same without reading a file, for whoever asks often: false only for a window whose process is gone. */
  seemsWindowAlive(windowId: string): boolean {
    return this.#parts.presence.seemsAlive(windowId);
  }

  /**
   * Reads one consistent state that holds everything any window had written when it was called; while the store is being
   * repaired, the newest state this window holds (see `failure`). Throws StoreOutdatedError, StoreClosedError, and whatever
   * `use` throws.
   */
  read<T>(use: (reader: ReadTransaction) => T): T {
    this.#mustBeUsable();
    if (this.#live.damage === null) this.#catchUpForReading();
    this.#committer.mustUnderstand('reading');
    return use(readerOf(this.#live.replica.database, { files: this.#parts.files, folder: this.folder }));
  }

  /**
   * Changes the state in one transaction. The change is made and visible when the call returns; the promise resolves with
   * what `change` gave once it is on disk (after a change of nothing: once what it read is on disk). If `change` throws, or
   * nothing can be written, nothing is changed and the promise rejects with that error or a StoreError. One exception: if
   * the disk refuses to sync and the state cannot be saved elsewhere in the folder either (StoreWriteError), the change
   * stays visible but may be lost. While the store is being repaired the change waits for that.
   */
  write<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    try {
      this.#mustBeUsable();
      if (!this.isReadOnly) return this.#writeNow(change);
      if (this.#parts.options.access !== 'read') return this.#writeUnlocked(change);
      throw new StoreReadOnlyError(this.folder, 'it was opened for reading only');
    } catch (error) {
      if (error instanceof StoreDamagedError && !this.#isClosed) return this.#writeAfterRepair(change);
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Called after each change, outside any transaction; several changes may be reported as one. Returns how to stop. */
  onDidChange(listener: (change: StoreChange) => void): () => void {
    return this.#changes.listen(listener);
  }

  /** How often to look for other windows' changes, in milliseconds (see storeOptions.ts); 0: only on read and write. */
  follow(interval: number): void {
    this.#followInterval = interval;
    if (this.#followTimer !== null) clearTimeout(this.#followTimer);
    this.#followTimer = null;
    if (interval === 0 || this.#isClosed) return;
    this.#followTimer = setTimeout(() => this.#look(), interval).unref();
  }

  /** Resolves once everything this window holds is on disk. Rejects if the disk refuses. */
  flush(): Promise<void> {
    return this.#durability.wait(this.seq);
  }

  /** Makes a checkpoint now. Rejects with why not. For tests and tools; by itself it happens when the journal has grown. */
  checkpoint(): Promise<void> {
    this.#mustBeUsable();
    return this.#generations.checkpoint();
  }

  /**
   * After a deletion: makes checkpoints until no file that is kept holds what was deleted, and resolves to the names of those
   * that still may (see purge.ts). A window that goes meanwhile leaves the rest to the next one that opens the folder.
   */
  purge(): Promise<string[]> {
    const { files, presence, runner } = this.#parts;
    return purge({
      files,
      folder: this.folder,
      seq: this.read(lastDeletionSeq),
      checkpoint: () => this.checkpoint(),
      isWindowAlive: (windowId) => presence.isAlive(windowId),
      isStopped: () => this.#isClosed || this.isReadOnly || runner === null,
    });
  }

  /** Moves what is not small of finished messages into blobs, now; by itself that happens at idle moments. For tests and tools. */
  tidy(): Promise<number> {
    this.#mustBeUsable();
    return this.#tidy.run();
  }

  /** Resolves when no checkpoint of this window is running. */
  checkpointSettled(): Promise<void> {
    return this.#generations.settled();
  }

  /** The window goes: what it still has to write may use up the reserve when the disk is full. */
  lastWords(): void {
    this.#isLeaving = true;
  }

  /** Flushes and lets go of the files. Calling it again does nothing. Uses nothing but Node's file functions. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.follow(0);
    if (this.#markTimer !== null) clearTimeout(this.#markTimer);
    this.#markTimer = null;
    await this.#tidy.stop();
    if (!this.isReadOnly) await this.#durability.drain();
    await this.#markWrite;
    if (!this.isReadOnly) await this.#writeMark();
    this.#parts.presence.stop();
    this.#live.close();
  }

  #writeNow<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    const { value, seq, hasChanged } = this.#commit(change);
    if (hasChanged) {
      this.#changes.announce('own', seq);
      this.#generations.committed();
    }
    return this.#durability.wait(seq).then(() => value);
  }

  #commit<T>(change: (writer: WriteTransaction) => T): Committed<T> {
    try {
      return this.#committer.commit(change);
    } catch (error) {
      if (!this.#isLeaving || !isNoSpace(error) || !this.#reserve.giveUp()) throw error;
      return this.#committer.commit(change);
    }
  }

  async #writeAfterRepair<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    await this.#live.repaired();
    this.#mustBeUsable();
    return this.#writeNow(change);
  }

  async #writeUnlocked<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    this.#unlocking ??= this.#unlock().finally(() => {
      this.#unlocking = null;
    });
    await this.#unlocking;
    return this.write(change);
  }

  /** The window becomes one that writes. Throws StoreReadOnlyError while the folder cannot be written to, and what opening throws. */
  async #unlock(): Promise<void> {
    const { presence, files, options, log } = this.#parts;
    try {
      files.makeFolder(this.folder);
      presence.start();
      await this.#live.becomeWriter();
      await this.#prepareWriting();
    } catch (error) {
      presence.stop();
      throw toWriteError(this.folder, error);
    }
    if (this.#isClosed) return presence.stop();
    this.#isReadOnly = false;
    log(`the folder ${this.folder} can be written to now`);
    this.#startHousekeeping();
    options.onWritable?.();
  }

  #leave(journal: Journal): void {
    if (journal.access === 'read') journal.close();
    else this.#durability.leave(journal);
  }

  async #prepare(): Promise<void> {
    const { log } = this.#parts;
    for (const { name } of this.#live.badSnapshots)
      log(`the snapshot ${name} is damaged; an older one was used`);
    this.#committer.mustUnderstand('reading');
    if (!this.isReadOnly) await this.#prepareWriting();
    else if (readSchemaVersion(this.#live.replica.database) === 0) {
      throw new StoreUnavailableError(this.folder, 'it holds no chats and cannot be written to');
    }
    this.follow(this.#followInterval);
    if (!this.isReadOnly) this.#startHousekeeping();
  }

  async #prepareWriting(): Promise<void> {
    const { presence } = this.#parts;
    presence.setHolds(true);
    presence.sweep();
    const version = readSchemaVersion(this.#live.replica.database);
    if (version < schemaVersion) await this.#writeNow((writer) => migrate(writer));
    if (this.#live.replica.isTailAccepted) this.#confirmTail();
  }

  #startHousekeeping(): void {
    this.#finishPurge();
    if (this.#followInterval > 0) this.#tidy.start();
  }

  /** Nobody is writing here at the moment; of several windows the first does it. */
  #isTidyDue(): boolean {
    const { presence } = this.#parts;
    if (this.#generations.idleTime < idleBeforeTidy || this.#live.damage !== null) return false;
    return presence.others().every((other) => this.windowId < other);
  }

  /** On a full disk the next change does it. */
  #confirmTail(): void {
    try {
      this.#committer.confirmTail();
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      this.#parts.log(`the end of the journal is not confirmed yet: ${String(error)}`);
    }
  }

  /** A window deleted something and went before the files were gone that hold it. */
  #finishPurge(): void {
    const { files, log, runner } = this.#parts;
    if (runner === null || oldFiles(files, this.folder, this.read(lastDeletionSeq)).length === 0) return;
    this.purge().catch((error: unknown) => log(`what was deleted is still in the files: ${String(error)}`));
  }

  #mustBeUsable(): void {
    if (this.#isClosed) throw new StoreClosedError();
    if (this.#committer.isRunning) {
      throw new StoreStatementError('A transaction is running; use its writer', 'read or write inside write');
    }
  }

  /**
   * Damage found while reading is repaired in the background, and own files that cannot be read may be readable again soon;
   * what this window holds is still right as far as it goes. Whoever only looks into a folder is told that it is gone.
   */
  #catchUpForReading(): void {
    try {
      this.#live.catchUp();
    } catch (error) {
      const isOwn = this.#parts.options.access !== 'read';
      const isUnreadable = error instanceof StoreUnavailableError || systemErrorCode(error) !== null;
      const isBeingRepaired = error instanceof StoreDamagedError || error instanceof StoreReplayError;
      if (!isBeingRepaired && !(isOwn && isUnreadable)) throw error;
      this.#parts.log(`what others wrote cannot be read: ${String(error)}`);
    }
  }

  /** A sync failed: the state in memory becomes a new generation, on new files. */
  async #recover(error: unknown): Promise<void> {
    this.#parts.log(`a sync failed: ${String(error)}`);
    if (this.#live.damage !== null) throw toWriteError(this.folder, error);
    try {
      await this.#generations.saveMemory(true);
    } catch (failure) {
      this.#parts.log(`saving elsewhere failed too: ${String(failure)}`);
      throw toWriteError(this.folder, error);
    }
  }

  #look(): void {
    this.#followTimer = null;
    if (this.#isClosed) return;
    let more = false;
    try {
      if (this.#live.damage === null) {
        more = this.#live.catchUp(sliceBudget);
        const request = this.#live.replica.takeRequest();
        if (request !== null) void this.#answer(request);
        this.#followFailure = null;
        if (!this.isReadOnly) this.#generations.look();
        if (!this.isReadOnly && !this.#isLeaving) this.#reserve.look();
      }
    } catch (error) {
      const failure = String(error);
      if (failure !== this.#followFailure) this.#parts.log(`following failed: ${failure}`);
      this.#followFailure = failure;
    }
    if (more) setImmediate(() => this.#look());
    else this.follow(this.#followInterval);
  }

  /** See `requests`. A confirmation tells what is durable here, so a frame that rotted shows as a gap. */
  async #answer(request: Request): Promise<void> {
    if (this.#isAnswering || this.isReadOnly) return;
    this.#isAnswering = true;
    try {
      if (request === 'repair') await this.#generations.saveMemory(false);
      else {
        await this.flush();
        this.#committer.confirmTail();
      }
    } catch (error) {
      this.#parts.log(`answering "${request}" of another window failed: ${String(error)}`);
    } finally {
      this.#isAnswering = false;
    }
  }

  #scheduleMark(): void {
    if (this.#markTimer !== null || this.#isClosed) return;
    this.#markTimer = setTimeout(() => {
      this.#markTimer = null;
      this.#markWrite = this.#writeMark();
    }, this.#parts.options.markDelay ?? defaultMarkDelay).unref();
  }

  async #writeMark(): Promise<void> {
    const { position, journal } = this.#live.replica;
    if (this.#durability.seq < position.seq || position.seq === 0 || this.#live.damage !== null) return;
    const mark = { generation: journal.generation, ...position, length: journal.position };
    try {
      await writeMark(this.#parts.files, this.folder, mark, this.windowId);
    } catch (error) {
      this.#parts.log(`the mark was not written: ${String(error)}`);
    }
  }
}
