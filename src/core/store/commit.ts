/** Commit by compare-and-append: optimistic, without locks. Synchronous from the catch-up to the decision. */
import type { BlobKeeper, Blobs } from './blobs.ts';
import {
  noSpaceError,
  StoreDamagedError,
  StoreOutdatedError,
  StoreStatementError,
  StoreTooLargeError,
  StoreWriteError,
  toWriteError,
} from './errors.ts';
import { encodeFrame, encodePayload, jsonBytes, type Frame, type Payload, type Statement } from './frame.ts';
import type { LiveReplica } from './liveReplica.ts';
import { readRequirements, schemaVersion } from './migrations.ts';
import { normalizeValue } from './openDatabase.ts';
import { touchesMeta } from './replica.ts';
import type { Value, WriteTransaction } from './transaction.ts';

/** Bytes of contents in a frame; what is larger is kept in a blob, written before. */
const roomForContents = 256 * 1024;
/** Largest frame in bytes: contents, and everything else that a change of rows may take. */
const largestFrame = roomForContents + 64 * 1024;
/** A race lost so often is no race. */
const mostAttempts = 1000;

export interface CommitOptions {
  readonly folder: string;
  readonly live: LiveReplica;
  readonly makeId: () => string;
  readonly blobs: Blobs;
  /** The highest sequence number this window knows to be on disk. */
  readonly durable: () => number;
  /** The frame of that number is in the journal and counts: the disk may begin while the change is completed in memory. */
  readonly onAppended: (seq: number) => void;
}

export interface Committed<T> {
  readonly value: T;
  /** What the caller's answer rests on. */
  readonly seq: number;
  /** False: nothing was written. */
  readonly hasChanged: boolean;
}

type CountedFrame = Pick<Frame, 'seq' | 'crc' | 'durable'>;

export class Committer {
  readonly #options: CommitOptions;
  #isRunning = false;
  #requirements = { minReader: 0, minWriter: 0 };

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  /** A caller's function runs at the moment. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Throws StoreOutdatedError if a newer version of the extension changed the format beyond this one. */
  mustUnderstand(access: 'reading' | 'writing'): void {
    const { replica } = this.#options.live;
    if (replica.takeMetaChanged()) this.#requirements = readRequirements(replica.database);
    const { minReader, minWriter } = this.#requirements;
    const needed = access === 'reading' ? minReader : Math.max(minReader, minWriter);
    if (needed > schemaVersion) throw new StoreOutdatedError(access);
  }

  /** Steps 1 to 4 of a commit. Throws what `change` throws and StoreErrors; nothing is changed then. */
  commit<T>(change: (writer: WriteTransaction) => T): Committed<T> {
    const transaction = this.#options.makeId();
    const keeper = this.#options.blobs.keeper();
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      this.#options.live.catchUp();
      this.#options.live.refuseUnfinishedTail();
      this.mustUnderstand('writing');
      const committed = this.#tryCommit(transaction, change, keeper);
      if (committed !== null) return committed;
    }
    throw new StoreWriteError(this.#options.folder, 'other windows were always faster');
  }

  /**
   * Ends the generation and moves to the next, whose journal must be there. Null: another window's seal came first. Throws
   * StoreErrors.
   */
  seal(generation: number, window: string): CountedFrame | null {
    const transaction = this.#options.makeId();
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { live } = this.#options;
      live.catchUp();
      if (live.replica.journal.generation !== generation) return null;
      const won = this.#append(transaction, encodePayload({ type: 'seal', window } satisfies Payload));
      if (won === null) continue;
      live.replica.acceptSeal(won.frame, won.end, window);
      return won.frame;
    }
    return null;
  }

  /**
   * Writes a frame that changes nothing: what follows an unreadable end of the journal tells every window whether it was a
   * torn write. Throws StoreErrors.
   */
  confirmTail(): void {
    const transaction = this.#options.makeId();
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { live } = this.#options;
      live.catchUp();
      const won = this.#append(transaction, encodePayload({ type: 'statements', statements: [] }));
      if (won === null) continue;
      live.replica.accept(won.frame, won.end, false);
      return;
    }
  }

  #tryCommit<T>(
    transaction: string,
    change: (writer: WriteTransaction) => T,
    keeper: BlobKeeper,
  ): Committed<T> | null {
    const { replica } = this.#options.live;
    const { database } = replica;
    database.begin();
    let isOpen = true;
    try {
      const { value, statements } = this.#run(change, keeper);
      const seq = replica.position.seq + 1;
      if (statements.length === 0) return { value, seq: seq - 1, hasChanged: false };
      const won = this.#append(transaction, encodePayload({ type: 'statements', statements }));
      if (won === null) return null;
      this.#options.onAppended(seq);
      database.commit();
      isOpen = false;
      const isMeta = statements.some(({ sql }) => touchesMeta(sql));
      replica.accept(won.frame, won.end, isMeta);
      return { value, seq, hasChanged: true };
    } finally {
      if (isOpen) database.rollback();
    }
  }

  #run<T>(
    change: (writer: WriteTransaction) => T,
    keeper: BlobKeeper,
  ): { value: T; statements: Statement[] } {
    const { blobs, live } = this.#options;
    const { database, position, journal } = live.replica;
    const statements: Statement[] = [];
    let room = roomForContents;
    let measured = 0;
    let isOver = false;
    const mustRun = (): void => {
      if (isOver) throw new StoreStatementError('The transaction is over', 'writer used after write');
    };
    this.#isRunning = true;
    try {
      const value = change({
        seq: position.seq + 1,
        all(sql, parameters) {
          mustRun();
          return database.all(sql, parameters);
        },
        get(sql, parameters) {
          mustRun();
          return database.get(sql, parameters);
        },
        run(sql: string, parameters: readonly Value[] = []) {
          mustRun();
          const statement = { sql, parameters: parameters.map(normalizeValue) };
          database.run(statement);
          statements.push(statement);
        },
        get room() {
          for (const { parameters } of statements.slice(measured)) room -= jsonBytes(parameters);
          measured = statements.length;
          return room;
        },
        readBlob: (reference) => blobs.read(reference),
        keepBlob(texts) {
          mustRun();
          return keeper.keep(texts, journal.generation);
        },
      });
      return { value, statements };
    } finally {
      isOver = true;
      this.#isRunning = false;
    }
  }

  /** Steps 3 and 4: null if another window's frame came first. */
  #append(transaction: string, json: string): { frame: CountedFrame; end: number } | null {
    const { live, folder, durable } = this.#options;
    const { journal, position } = live.replica;
    const header = {
      seq: position.seq + 1,
      previous: position.crc,
      durable: Math.min(durable(), position.seq),
      transaction,
    };
    const { bytes, crc } = encodeFrame(header, json);
    if (bytes.length > largestFrame) throw new StoreTooLargeError(bytes.length, largestFrame);
    let failure: unknown = null;
    let written = 0;
    try {
      written = journal.append(bytes);
    } catch (error) {
      failure = error;
    }
    const { size } = journal.status();
    if (written === bytes.length && size === journal.position + bytes.length) {
      return { frame: { ...header, crc }, end: size };
    }
    // Somebody else wrote, or not all was written: what the journal says decides, also after an error.
    if (written < bytes.length) live.replica.noteOwnTorn();
    const next = live.replica.peek();
    if (next?.frame.transaction === transaction) return next;
    if (failure !== null) throw toWriteError(folder, failure);
    if (next === null && written < bytes.length) {
      throw toWriteError(folder, noSpaceError('a short write'));
    }
    if (next === null && size >= journal.position + bytes.length) {
      throw new StoreDamagedError(journal.path, 'what was just written does not read back');
    }
    return null;
  }
}
