/**
 * The replica a window works with, replaced by a newly opened one when the files under it are no longer the store's: after a
 * sleep through generations, a deleted folder, damage.
 */
import { moveReplacedAside } from './aside.ts';
import {
  StoreDamagedError,
  StoreError,
  StoreReplayError,
  StoreUnavailableError,
  systemErrorCode,
} from './errors.ts';
import { listFolder } from './folder.ts';
import { Journal } from './journal.ts';
import { openRepairing, type RepairOptions } from './openRepairing.ts';
import { openReplica, type OpenedReplica } from './openReplica.ts';
import { DisplacedError, type Replica } from './replica.ts';
import { imageOf, publishSnapshot } from './writeSnapshot.ts';

export interface LiveOptions extends Omit<RepairOptions, 'onMove'> {
  /** The journals that were left at a seal or a reopen, to be synced and closed. */
  readonly onLeave: (left: Journal) => void;
  /** A new generation began, sealed by that window; null: found at an open. */
  readonly onGeneration: (sealedBy: string | null) => void;
  /** The files were lost under this window, which made them again. */
  readonly onHealed: (cause: DisplacedError['reason']) => void;
  /** The state changed by others' frames. */
  readonly onAdvance: (seq: number) => void;
}

/** Milliseconds another's write may be seen unfinished. */
const tailPatience = 50;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class LiveReplica {
  readonly #options: LiveOptions;
  #access: LiveOptions['access'];
  #opened: OpenedReplica;
  #snapshotBytes: number;
  #damage: StoreError | null = null;
  #repair: Promise<void> | null = null;
  #isClosed = false;

  private constructor(options: LiveOptions, opened: OpenedReplica) {
    this.#options = options;
    this.#access = options.access;
    this.#opened = opened;
    this.#snapshotBytes = opened.snapshotBytes;
  }

  static async open(options: LiveOptions): Promise<LiveReplica> {
    let live: LiveReplica | null = null;
    const opened = await openRepairing({
      ...options,
      onMove: (left, sealedBy) => {
        options.onLeave(left);
        if (live !== null) options.onGeneration(sealedBy);
      },
    });
    live = new LiveReplica(options, opened);
    return live;
  }

  get replica(): Replica {
    return this.#opened.replica;
  }

  get snapshotBytes(): number {
    return this.#snapshotBytes;
  }

  /** Generation of the snapshot this window came from. */
  get snapshotGeneration(): number {
    return this.#opened.snapshotGeneration;
  }

  get badSnapshots(): OpenedReplica['badSnapshots'] {
    return this.#opened.badSnapshots;
  }

  noteSnapshot(bytes: number): void {
    this.#snapshotBytes = bytes;
  }

  /** Why the state cannot go on at the moment; null: it can. */
  get damage(): StoreError | null {
    return this.#damage;
  }

  /** Ends when the repair that is going on has ended; tries one if the last failed. */
  async repaired(): Promise<void> {
    if (this.#damage === null || this.#damage instanceof StoreReplayError) return;
    this.#repair ??= this.#startRepair();
    await this.#repair;
  }

  /**
   * Applies what others wrote. Returns whether more may be waiting (`budget` in milliseconds). Throws StoreDamagedError,
   * StoreReplayError and what node:fs throws; the state from before stays readable.
   */
  catchUp(budget?: number): boolean {
    if (this.#damage !== null) throw this.#damage;
    const before = this.replica.position.seq;
    try {
      const more = this.replica.catchUp(budget);
      this.#refuseSuspect();
      return more;
    } catch (error) {
      if (error instanceof DisplacedError) {
        this.#followDisplaced(error);
        return false;
      }
      if (error instanceof StoreReplayError) this.#damage = error;
      if (error instanceof StoreDamagedError) {
        this.#damage = error;
        this.#repair ??= this.#startRepair();
      }
      throw error;
    } finally {
      const { seq } = this.replica.position;
      if (seq !== before) this.#options.onAdvance(seq);
    }
  }

  /**
   * From now on this window writes: files that were lost meanwhile are made again from what it holds, and all are opened anew.
   * Throws what opening throws; then reading goes on as before.
   */
  async becomeWriter(): Promise<void> {
    this.#access = 'append';
    try {
      if (this.#damage === null) this.catchUp();
      const opened = await openRepairing(this.#openOptions());
      if (this.#isClosed) return opened.replica.close();
      this.#damage = null;
      this.#replace(opened);
    } catch (error) {
      this.#access = 'read';
      throw error;
    }
  }

  /** A repair that is still going on lets go of what it opens when it ends. */
  close(): void {
    this.#isClosed = true;
    this.replica.close();
  }

  /**
   * Before a commit, right after catchUp: another's write in progress gets a moment to end; what does not end may be a frame that
   * rotted. Throws StoreDamagedError if windows live that can tell.
   */
  refuseUnfinishedTail(): void {
    if (this.replica.journal.isReadToEnd || !this.replica.hasUnfinishedTail()) return;
    const deadline = this.#options.clock() + tailPatience;
    while (this.replica.hasUnfinishedTail()) {
      if (this.#options.clock() > deadline) {
        this.replica.suspect();
        this.catchUp();
        return;
      }
      Atomics.wait(sleeper, 0, 0, 1);
      this.catchUp();
    }
  }

  #refuseSuspect(): void {
    const { presence } = this.#options;
    if (!this.replica.isSuspect) return;
    if (this.#access === 'append' && presence.others().length > 0) {
      throw new StoreDamagedError(this.replica.journal.path, 'it ends in something unreadable');
    }
    this.replica.acceptTail();
  }

  #startRepair(): Promise<void> {
    const { presence } = this.#options;
    const repair = async (): Promise<void> => {
      try {
        presence.setHolds(false);
        const opened = await openRepairing(this.#openOptions());
        if (this.#isClosed) {
          opened.replica.close();
          return;
        }
        this.#replace(opened);
        this.#damage = null;
        presence.setHolds(true);
      } catch (error) {
        this.#options.log(`repair failed: ${String(error)}`);
        if (error instanceof StoreError) this.#damage = error;
      } finally {
        this.#repair = null;
      }
    };
    return repair();
  }

  #openOptions(): RepairOptions {
    const { onLeave, onGeneration } = this.#options;
    let isOpen = false;
    queueMicrotask(() => {
      isOpen = true;
    });
    return {
      ...this.#options,
      access: this.#access,
      onMove: (left, sealedBy) => {
        onLeave(left);
        if (isOpen) onGeneration(sealedBy);
      },
    };
  }

  #followDisplaced(error: DisplacedError): void {
    const { files, folder, log } = this.#options;
    if (this.#access === 'append' && error.reason !== 'slept') {
      files.makeFolder(folder);
      const newest = listFolder(files, folder).snapshots[0]?.generation ?? 0;
      if (newest <= this.replica.journal.generation) {
        this.#saveMemory();
        this.#options.onHealed(error.reason);
      }
    }
    this.#replace(this.#openAnew());
    log(`${error.message}; opened anew`);
  }

  #openAnew(): OpenedReplica {
    try {
      return openReplica(this.#openOptions());
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === null || error instanceof StoreError) throw error;
      throw new StoreUnavailableError(this.#options.folder, code, error);
    }
  }

  /** The journal was deleted or cut short under us, and nobody else has saved the state yet: a new generation of it. */
  #saveMemory(): void {
    const { files, folder, windowId, now, log } = this.#options;
    const { database, position, journal } = this.replica;
    const next = Math.max(journal.generation, ...listFolder(files, folder).journals) + 1;
    new Journal(files, folder, next, 'create').close();
    files.syncFolderNow(folder);
    publishSnapshot(files, folder, imageOf(database, next, position), next, position, windowId);
    log(`the journal was lost; change ${position.seq} and all before it were saved again from memory`);
    const { generation } = journal;
    moveReplacedAside({ files, folder, generation, stamp: `${now()}-${windowId}`, log });
  }

  #replace(opened: OpenedReplica): void {
    const left = this.replica;
    this.#opened = opened;
    this.#snapshotBytes = opened.snapshotBytes;
    this.#options.onLeave(left.journal);
    left.database.close();
    this.#options.onGeneration(null);
    this.#options.onAdvance(opened.replica.position.seq);
  }
}

/** What the user is told of it. */
export function describeHealed(cause: DisplacedError['reason'], folder: string): string {
  const happened = cause === 'truncated' ? 'cut short' : 'deleted';
  return `Files of the chat storage in ${folder} were ${happened} while Holdfast was running. They were made again from what this window holds. Verify Store checks them all.`;
}
