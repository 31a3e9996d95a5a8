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
import { ulid } from 'ulid';
import { systemErrorCode, toWriteError } from './errors.ts';
import {
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreOutdatedError,
  StoreReadOnlyError,
  StoreStatementError,
  StoreTooLargeError,
  StoreUnavailableError,
} from './errors.ts';
import { Durability } from './durability.ts';
import { nodeFiles, type FileLayer } from './fileLayer.ts';
import { encodeFrame, encodePayload, type Frame, type Payload, type Statement } from './frame.ts';
import type { Journal } from './journal.ts';
import { writeMark } from './mark.ts';
import { migrate, readRequirements, readSchemaVersion, schemaVersion } from './migrations.ts';
import { loadEngine, normalizeValue, type Engine } from './openDatabase.ts';
import { openReplica } from './openReplica.ts';
import { DisplacedError, Replica, touchesMeta } from './replica.ts';
import { focusedFollowInterval, type StoreOptions } from './storeOptions.ts';
import type { ReadTransaction, Value, WriteTransaction } from './transaction.ts';

/** Largest frame in bytes. */
export const largestFrame = 64 * 1024 * 1024;

export interface StoreChange {
  /** `own`: written by this window. */
  readonly origin: 'own' | 'other';
  /** The newest sequence number it holds now. */
  readonly seq: number;
}

export class Store {
  readonly folder: string;
  readonly windowId: string;
  /** True: the folder cannot be written to; reading works. */
  readonly isReadOnly: boolean;
  readonly #files: FileLayer;
  readonly #clock: () => number;
  readonly #makeId: () => string;
  readonly #log: (line: string) => void;
  readonly #engine: Engine;
  readonly #markDelay: number;
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #durability: Durability;
  #replica: Replica;
  #leftAtOpen: Journal[] = [];
  /** Set once nothing may be written any more by this window. */
  #failure: StoreError | null = null;
  #isInTransaction = false;
  #isClosed = false;
  #requirements = { minReader: 0, minWriter: 0 };
  #pendingChanges = new Map<StoreChange['origin'], number>();
  #followInterval: number;
  #followTimer: NodeJS.Timeout | null = null;
  #markTimer: NodeJS.Timeout | null = null;
  #markWrite: Promise<void> = Promise.resolve();

  private constructor(options: StoreOptions, engine: Engine, isReadOnly: boolean) {
    this.folder = options.folder;
    this.windowId = options.windowId;
    this.isReadOnly = isReadOnly;
    this.#files = options.files ?? nodeFiles;
    this.#clock = options.clock ?? (() => performance.now());
    this.#makeId = options.makeId ?? ulid;
    this.#log = options.log ?? (() => undefined);
    this.#engine = engine;
    this.#markDelay = options.markDelay ?? 1000;
    this.#followInterval = options.followInterval ?? focusedFollowInterval;
    const opened = this.#openReplica();
    this.#replica = opened.replica;
    this.#durability = new Durability(
      {
        files: this.#files,
        current: () => ({ journal: this.#replica.journal, seq: this.#replica.position.seq }),
        recover: (error) => Promise.reject(toWriteError(this.folder, error)),
        onDurable: () => this.#scheduleMark(),
      },
      // What was read may be in the page cache only: it is synced before anything rests on it.
      this.#replica.durable,
    );
    for (const journal of this.#leftAtOpen) this.#durability.leave(journal);
    this.#leftAtOpen = [];
  }

  /**
   * Opens the folder, making it if needed, and brings the schema up to date. Throws StoreUnavailableError,
   * StoreDamagedError and StoreOutdatedError. A folder that can only be read opens with `isReadOnly`.
   */
  static async open(options: StoreOptions): Promise<Store> {
    const files = options.files ?? nodeFiles;
    const wasm = typeof options.wasm === 'string' ? files.readFile(options.wasm) : options.wasm;
    const engine = await loadEngine(wasm);
    const store = Store.#openIn(options, files, engine);
    try {
      await store.#prepare();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  static #openIn(options: StoreOptions, files: FileLayer, engine: Engine): Store {
    const { folder } = options;
    try {
      files.makeFolder(folder);
      return new Store(options, engine, false);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const code = systemErrorCode(error);
      if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') {
        throw new StoreUnavailableError(folder, code ?? String(error), error);
      }
    }
    try {
      return new Store(options, engine, true);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreUnavailableError(folder, systemErrorCode(error) ?? String(error), error);
    }
  }

  /** The newest sequence number this window holds. */
  get seq(): number {
    return this.#replica.position.seq;
  }

  /** The highest sequence number known to be on disk. */
  get durableSeq(): number {
    return this.#durability.seq;
  }

  /** The generation whose journal is being written. */
  get generation(): number {
    return this.#replica.journal.generation;
  }

  /** Why nothing can be written any more (until the window is reloaded), or null. */
  get failure(): StoreError | null {
    return this.#failure;
  }

  /**
   * Reads one consistent state that holds everything any window had written when it was called. Throws StoreOutdatedError,
   * StoreClosedError, and whatever `use` throws.
   */
  read<T>(use: (reader: ReadTransaction) => T): T {
    this.#mustBeUsable();
    if (this.#failure === null) this.#catchUp();
    if (this.#requirements.minReader > schemaVersion) throw new StoreOutdatedError('reading');
    const { database } = this.#replica;
    return use({
      all: (sql, parameters) => database.all(sql, parameters),
      get: (sql, parameters) => database.get(sql, parameters),
    });
  }

  /**
   * Changes the state in one transaction. The change is made and visible when the call returns; the promise resolves with
   * what `change` gave once it is on disk (after a change of nothing: once what it read is on disk). If `change` throws, or
   * nothing can be written, nothing is changed and the promise rejects with that error or a StoreError.
   */
  write<T>(change: (writer: WriteTransaction) => T): Promise<T> {
    try {
      this.#mustBeUsable();
      this.#mustBeWritable();
      const { value, seq } = this.#commit(change);
      return this.#durability.wait(seq).then(() => value);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Called after each change, outside any transaction; several changes may be reported as one. Returns how to stop. */
  onDidChange(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
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
    return this.#durability.wait(this.#replica.position.seq);
  }

  /** Flushes and lets go of the files. Calling it again does nothing. Uses nothing but Node's file functions. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.follow(0);
    if (this.#markTimer !== null) clearTimeout(this.#markTimer);
    this.#markTimer = null;
    await this.#durability.drain();
    await this.#markWrite;
    if (!this.isReadOnly) await this.#writeMark();
    this.#replica.close();
  }

  #openReplica(): ReturnType<typeof openReplica> {
    return openReplica({
      files: this.#files,
      folder: this.folder,
      engine: this.#engine,
      access: this.isReadOnly ? 'read' : 'append',
      clock: this.#clock,
      onMove: (left) => this.#leave(left),
    });
  }

  #leave(journal: Journal): void {
    if (this.isReadOnly) journal.close();
    else if (this.#durability === undefined) this.#leftAtOpen.push(journal);
    else this.#durability.leave(journal);
  }

  async #prepare(): Promise<void> {
    this.#checkRequirements();
    const version = readSchemaVersion(this.#replica.database);
    if (this.isReadOnly) {
      if (version === 0) {
        throw new StoreUnavailableError(this.folder, 'it holds no chats and cannot be written to');
      }
    } else if (version < schemaVersion) await this.write((writer) => migrate(writer));
    if (this.#requirements.minReader > schemaVersion) throw new StoreOutdatedError('reading');
    this.follow(this.#followInterval);
  }

  #mustBeUsable(): void {
    if (this.#isClosed) throw new StoreClosedError();
    if (this.#isInTransaction) {
      throw new StoreStatementError('A transaction is running; use its writer', 'read or write inside write');
    }
  }

  #mustBeWritable(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.isReadOnly) throw new StoreReadOnlyError(this.folder, 'no write permission');
  }

  #catchUp(budget?: number): boolean {
    const before = this.#replica.position.seq;
    try {
      const more = this.#replica.catchUp(budget);
      this.#afterCatchUp(before);
      return more;
    } catch (error) {
      this.#afterCatchUp(before);
      if (error instanceof DisplacedError) {
        this.#reopen();
        return false;
      }
      if (error instanceof StoreDamagedError) this.#fail(error);
      throw error;
    }
  }

  #afterCatchUp(before: number): void {
    const { seq } = this.#replica.position;
    if (seq === before) return;
    this.#durability.learn(this.#replica.durable);
    this.#checkRequirements();
    this.#announce('other', seq);
  }

  #reopen(): void {
    const left = this.#replica;
    const opened = this.#openReplica();
    this.#replica = opened.replica;
    this.#durability.leave(left.journal);
    left.database.close();
    this.#log(`opened anew at change ${opened.replica.position.seq}`);
    this.#checkRequirements();
    this.#announce('other', opened.replica.position.seq);
  }

  #checkRequirements(): void {
    if (this.#replica.takeMetaChanged()) this.#requirements = readRequirements(this.#replica.database);
  }

  #fail(error: StoreError): void {
    this.#failure ??= error;
    this.#log(error.message);
  }

  /** Steps 1 to 4 of a commit. `seq` is what the caller's answer rests on. */
  #commit<T>(change: (writer: WriteTransaction) => T): { value: T; seq: number } {
    const transaction = this.#makeId();
    for (;;) {
      this.#catchUp();
      if (this.#requirements.minWriter > schemaVersion) throw new StoreOutdatedError('writing');
      const { database } = this.#replica;
      database.begin();
      let isOpen = true;
      try {
        const { value, statements } = this.#run(change);
        const seq = this.#replica.position.seq + 1;
        if (statements.length === 0) return { value, seq: seq - 1 };
        const won = this.#append(transaction, { type: 'statements', statements });
        if (won === null) continue;
        database.commit();
        isOpen = false;
        this.#replica.accept(
          won.frame,
          won.end,
          statements.some(({ sql }) => touchesMeta(sql)),
        );
        this.#checkRequirements();
        this.#announce('own', seq);
        return { value, seq };
      } finally {
        if (isOpen) database.rollback();
      }
    }
  }

  #run<T>(change: (writer: WriteTransaction) => T): { value: T; statements: Statement[] } {
    const { database, position } = this.#replica;
    const statements: Statement[] = [];
    let isOver = false;
    const mustRun = (): void => {
      if (isOver) throw new StoreStatementError('The transaction is over', 'writer used after write');
    };
    this.#isInTransaction = true;
    try {
      const value = change({
        seq: position.seq + 1,
        all: (sql, parameters) => (mustRun(), database.all(sql, parameters)),
        get: (sql, parameters) => (mustRun(), database.get(sql, parameters)),
        run: (sql: string, parameters: readonly Value[] = []) => {
          mustRun();
          const statement = { sql, parameters: parameters.map(normalizeValue) };
          database.run(statement);
          statements.push(statement);
        },
      });
      return { value, statements };
    } finally {
      isOver = true;
      this.#isInTransaction = false;
    }
  }

  /** Steps 3 and 4: null if another window's frame came first. */
  #append(
    transaction: string,
    payload: Payload,
  ): { frame: Pick<Frame, 'seq' | 'crc' | 'durable'>; end: number } | null {
    const { journal, position } = this.#replica;
    const header = {
      seq: position.seq + 1,
      previous: position.crc,
      durable: this.#durability.seq,
      transaction,
    };
    const { bytes, crc } = encodeFrame(header, encodePayload(payload));
    if (bytes.length > largestFrame) throw new StoreTooLargeError(bytes.length, largestFrame);
    let failure: unknown = null;
    let written = 0;
    try {
      written = journal.append(bytes);
    } catch (error) {
      failure = error;
    }
    // Also after an error the journal decides: what was written may count.
    const size = journal.status().size;
    if (size === journal.position + bytes.length && written === bytes.length) {
      return { frame: { ...header, crc }, end: size };
    }
    const next = this.#replica.peek();
    if (next?.frame.transaction === transaction) return next;
    if (failure !== null) throw toWriteError(this.folder, failure);
    if (next === null && written < bytes.length) {
      throw toWriteError(this.folder, Object.assign(new Error('short write'), { code: 'ENOSPC' }));
    }
    return null;
  }

  #announce(origin: StoreChange['origin'], seq: number): void {
    if (this.#pendingChanges.size === 0) queueMicrotask(() => this.#deliver());
    this.#pendingChanges.set(origin, seq);
  }

  #deliver(): void {
    const changes = this.#pendingChanges;
    this.#pendingChanges = new Map();
    for (const [origin, seq] of changes) {
      for (const listener of this.#listeners) {
        try {
          listener({ origin, seq });
        } catch (error) {
          this.#log(`a listener failed: ${String(error)}`);
        }
      }
    }
  }

  #look(): void {
    this.#followTimer = null;
    if (this.#isClosed) return;
    let more = false;
    try {
      if (this.#failure === null) more = this.#catchUp(sliceBudget);
    } catch (error) {
      this.#log(`following failed: ${String(error)}`);
    }
    if (more) setImmediate(() => this.#look());
    else this.follow(this.#followInterval);
  }

  #scheduleMark(): void {
    if (this.#markTimer !== null || this.#isClosed) return;
    this.#markTimer = setTimeout(() => {
      this.#markTimer = null;
      this.#markWrite = this.#writeMark();
    }, this.#markDelay).unref();
  }

  async #writeMark(): Promise<void> {
    const { position, journal } = this.#replica;
    if (this.#durability.seq < position.seq || position.seq === 0) return;
    const mark = { generation: journal.generation, ...position, length: journal.position };
    try {
      await writeMark(this.#files, this.folder, mark, this.windowId);
    } catch (error) {
      this.#log(`the mark was not written: ${String(error)}`);
    }
  }
}

/** Milliseconds of a long catch-up at a time. */
const sliceBudget = 5;
