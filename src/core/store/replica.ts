/**
 * This window's copy of the state: the database in memory and the place in the journal up to which it holds every frame
 * that counts. All of it is synchronous.
 */
import { judge, splitLines, type ChainPosition } from './chain.ts';
import { StoreDamagedError, StoreError, StoreReplayError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { listFolder } from './folder.ts';
import { decodePayload, type Frame, type Payload } from './frame.ts';
import { Journal, type JournalAccess } from './journal.ts';
import type { Database } from './openDatabase.ts';

/** Bytes of journal in memory at a time: it may be long when a store is opened. */
const pieceSize = 1 << 20;

/**
 * The journal this window reads is no longer the store's: it was deleted, cut short, or the next one is gone because this
 * window slept through a generation. The window opens anew. Internal; users of the store never see it.
 */
export class DisplacedError extends Error {
  readonly reason: 'deleted' | 'truncated' | 'slept';

  constructor(reason: DisplacedError['reason']) {
    super(`the journal is not the store's any more (${reason})`);
    this.name = 'DisplacedError';
    this.reason = reason;
  }
}

export interface ReplicaOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly database: Database;
  readonly start: ChainPosition;
  readonly journal: Journal;
  /** How the next journals are opened. */
  readonly access: Extract<JournalAccess, 'read' | 'append'>;
  /** A frame known to have been synced; passing its number with another CRC is damage. */
  readonly witness: ChainPosition | null;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** The generation whose seal ends the replay; null: go on for ever. */
  readonly lastGeneration: number | null;
  /** Told about each seal, after the replica moved to the next journal; the one left is the callee's to close. */
  readonly onMove: (left: Journal, sealedBy: string) => void;
}

export class Replica {
  readonly database: Database;
  readonly #options: ReplicaOptions;
  #position: ChainPosition;
  #journal: Journal;
  /** The highest sequence number that some writer knew to be durable. */
  #durable: number;
  /** A statement touched `meta` since this was last asked: the schema may have changed. */
  #metaChanged = true;
  #request: Request | null = null;
  #isSuspect = false;
  #isTailAccepted = false;
  /** Size of the journal after a write of ours that was cut short. */
  #ownTornSize = -1;
  #isAtLastSeal = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.database = options.database;
    this.#position = options.start;
    this.#journal = options.journal;
    this.#durable = options.start.seq;
  }

  get position(): ChainPosition {
    return this.#position;
  }

  get journal(): Journal {
    return this.#journal;
  }

  get durable(): number {
    return this.#durable;
  }

  /**
   * The journal ends in something unreadable with no frame behind it that counts. Nearly always that is a torn write of a
   * window that died; it could be a frame that was acknowledged and has rotted since. Windows that live can tell.
   */
  get isSuspect(): boolean {
    return this.#isSuspect && !this.#isTailAccepted;
  }

  /** Nobody knows better: the unreadable end is a torn write. The next frame that counts says so to everyone. */
  acceptTail(): void {
    if (this.#isSuspect || this.hasUnfinishedTail()) this.#isTailAccepted = true;
  }

  get isTailAccepted(): boolean {
    return this.#isTailAccepted;
  }

  /** A write of ours was cut short; what it left is no secret. */
  noteOwnTorn(): void {
    this.#ownTornSize = this.#journal.status().size;
  }

  /** Whether the journal ends in an unfinished line that is not our own. It may be another's write in progress. */
  hasUnfinishedTail(): boolean {
    const { size } = this.#journal.status();
    return size > this.#journal.position && size !== this.#ownTornSize && !this.#isTailAccepted;
  }

  suspect(): void {
    this.#isSuspect = true;
  }

  /** Whether the seal of `lastGeneration` was reached. */
  get isAtLastSeal(): boolean {
    return this.#isAtLastSeal;
  }

  takeMetaChanged(): boolean {
    const changed = this.#metaChanged;
    this.#metaChanged = false;
    return changed;
  }

  /** What another window asked for, once. */
  takeRequest(): Request | null {
    const request = this.#request;
    this.#request = null;
    return request;
  }

  /**
   * Applies every frame that counts, to the end of the journal and through seals into the next ones, or until `budget`
   * milliseconds are used up. Returns whether more may be waiting. Throws DisplacedError and StoreDamagedError; what was
   * applied before stays.
   */
  catchUp(budget = Number.POSITIVE_INFINITY): boolean {
    const deadline = budget === Number.POSITIVE_INFINITY ? budget : this.#options.clock() + budget;
    for (let piece = pieceSize; ;) {
      const { size, links } = this.#journal.status();
      if (size < this.#journal.position) throw new DisplacedError('truncated');
      if (size === this.#journal.position) {
        if (links === 0) throw new DisplacedError('deleted');
        return false;
      }
      const before = this.#journal.position;
      const end = Math.min(size, before + piece);
      const sealedBy = this.#applyLines(this.#journal.readNew(end), deadline);
      if (sealedBy !== null) {
        if (this.#journal.generation === this.#options.lastGeneration) {
          this.#isAtLastSeal = true;
          return false;
        }
        this.#move(sealedBy);
      } else if (this.#journal.position === before) {
        if (end === size) return false; // a write in progress
        piece *= 2; // not the whole of a line: garbage may be long
      }
      if (this.#options.clock() > deadline) return true;
    }
  }

  /**
   * Step 4 of a commit: the next frame that counts, without applying it. `end` is its offset in the journal. Null: none.
   */
  peek(): { frame: Frame; end: number } | null {
    const { position } = this.#journal;
    for (const { frame, end } of splitLines(this.#journal.readNew())) {
      if (frame === null) continue;
      if (this.#verdict(frame) === 'counts') return { frame, end: position + end };
    }
    return null;
  }

  /** The frame's effects are in the database already, by the transaction that wrote it. */
  accept(frame: Pick<Frame, 'seq' | 'crc' | 'durable'>, end: number, touchesMeta: boolean): void {
    this.#advance(frame, end);
    this.#metaChanged ||= touchesMeta;
  }

  /** This window's own seal counted. */
  acceptSeal(frame: Pick<Frame, 'seq' | 'crc' | 'durable'>, end: number, window: string): void {
    this.#advance(frame, end);
    this.#move(window);
  }

  close(): void {
    this.#journal.close();
    this.database.close();
  }

  /**
   * Applies lines in one transaction; gives the sealing window if the last one was a seal. If a frame that counts cannot be replayed, those
   * before it are applied and the error is thrown: a frame is never skipped.
   */
  #applyLines(bytes: Buffer, deadline: number): string | null {
    const base = this.#journal.position;
    const start = { position: this.#position, offset: base };
    let sealedBy: string | null = null;
    let begun = false;
    let applied = 0;
    try {
      for (const { frame, end } of splitLines(bytes)) {
        if (frame === null) this.#noticeUnreadable(bytes, end);
        else if (this.#verdict(frame) === 'counts') {
          if (!begun) this.database.begin();
          begun = true;
          sealedBy = this.#apply(frame);
          this.#advance(frame, base + end);
          applied += 1;
        }
        this.#journal.position = base + end;
        if (sealedBy !== null || this.#options.clock() > deadline) break;
      }
    } catch (error) {
      if (begun) this.#undo(start, bytes, applied);
      throw error;
    }
    if (begun) this.database.commit();
    return sealedBy;
  }

  /** Takes back a failed slice and applies its first `count` frames again, which did not fail. */
  #undo(start: { position: ChainPosition; offset: number }, bytes: Buffer, count: number): void {
    this.database.rollback();
    this.#position = start.position;
    this.#journal.position = start.offset;
    if (count === 0) return;
    this.database.begin();
    let left = count;
    for (const { frame, end } of splitLines(bytes)) {
      if (frame !== null && this.#verdict(frame) === 'counts') {
        this.#apply(frame);
        this.#advance(frame, start.offset + end);
        left -= 1;
      }
      this.#journal.position = start.offset + end;
      if (left === 0) break;
    }
    this.database.commit();
  }

  #verdict(frame: Frame): 'counts' | 'skipped' {
    const verdict = judge(this.#position, frame);
    if (verdict === 'gap') {
      throw new StoreDamagedError(
        this.#journal.path,
        `change ${this.#position.seq + 1} was saved and is unreadable, found before change ${frame.seq}`,
      );
    }
    if (verdict === 'fork') {
      throw new StoreDamagedError(
        this.#journal.path,
        `there are two different changes ${this.#position.seq}`,
      );
    }
    return verdict;
  }

  /** Gives the sealing window for a seal. */
  #apply(frame: Frame): string | null {
    try {
      const payload: Payload = decodePayload(frame.json);
      if (payload.type === 'seal') return payload.window;
      for (const statement of payload.statements) {
        this.database.run(statement);
        if (touchesMeta(statement.sql)) this.#metaChanged = true;
      }
      return null;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new StoreReplayError(frame.seq, detail, error);
    }
  }

  #advance(frame: Pick<Frame, 'seq' | 'crc' | 'durable'>, end: number): void {
    const { witness } = this.#options;
    if (witness !== null && witness.seq === frame.seq && witness.crc !== frame.crc) {
      throw new StoreDamagedError(this.#journal.path, `change ${frame.seq} is not the one that was saved`);
    }
    this.#position = { seq: frame.seq, crc: frame.crc };
    this.#isSuspect = false;
    this.#isTailAccepted = false;
    this.#durable = Math.max(this.#durable, frame.durable);
    this.#journal.position = end;
  }

  #move(sealedBy: string): void {
    const { files, folder, access, onMove } = this.#options;
    const left = this.#journal;
    try {
      this.#journal = new Journal(files, folder, left.generation + 1, access);
    } catch (error) {
      if (error instanceof StoreError || systemErrorCode(error) !== 'ENOENT') throw error;
      throw new DisplacedError('slept');
    }
    onMove(left, sealedBy);
    this.#refuseOrphan();
  }

  /**
   * A window that slept while it made the next journal may have made one that was deleted long ago. Then there are newer
   * generations, and what is written to it would be lost.
   */
  #refuseOrphan(): void {
    const { files, folder, lastGeneration } = this.#options;
    if (lastGeneration !== null) return;
    const newest = listFolder(files, folder).snapshots[0]?.generation ?? 0;
    if (newest > this.#journal.generation) throw new DisplacedError('slept');
  }

  #noticeUnreadable(bytes: Buffer, end: number): void {
    const line = bytes
      .subarray(Math.max(0, end - longestRequest - 1), end)
      .toString('latin1')
      .trim();
    if (line.endsWith(requests.repair)) this.#request = 'repair';
    else if (line.endsWith(requests.confirm)) this.#request ??= 'confirm';
    else this.#isSuspect = true;
  }
}

export function touchesMeta(sql: string): boolean {
  return /\b(into|update)\s+meta\b/i.test(sql);
}

/**
 * Lines that count for nobody, by which a window asks those that hold the state in memory: to save it in a new generation,
 * because the journal cannot be read; or to write something, because only what follows an unreadable end shows whether it
 * was a torn write or a frame.
 */
export const requests = {
  repair: 'repair this journal',
  confirm: 'confirm the end of this journal',
} as const;
export type Request = keyof typeof requests;
const longestRequest = Math.max(...Object.values(requests).map((line) => line.length));
