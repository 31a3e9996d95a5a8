/**
 * When a generation ends, and who makes the snapshot of the next. The next journal is made and its name synced before the
 * seal, so nobody who moves on ever has to create one.
 */
import { moveReplacedAside } from './aside.ts';
import type { Blobs } from './blobs.ts';
import type { CheckpointJob } from './checkpoint.ts';
import type { CheckpointRunner } from './checkpointRunner.ts';
import type { Committer } from './commit.ts';
import type { Durability } from './durability.ts';
import { StoreClosedError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, journalName, listFolder } from './folder.ts';
import { Journal } from './journal.ts';
import type { LiveReplica } from './liveReplica.ts';
import type { Presence } from './presence.ts';
import { imageOf, publishSnapshot } from './writeSnapshot.ts';

export interface GenerationOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly windowId: string;
  readonly live: LiveReplica;
  readonly committer: Committer;
  readonly durability: Durability;
  readonly presence: Presence;
  readonly blobs: Blobs;
  /** Null: this window makes no snapshots. */
  readonly runner: CheckpointRunner | null;
  readonly clock: () => number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Bytes of journal after which a generation ends, unless a tenth of the snapshot is more. */
  readonly journalLimit: number;
}

/** A generation ends also after so many times its journal in blobs: those that no row names any more go with older ones only. */
const blobShare = 16;
/** An idle moment: no commit of ours for this long (milliseconds). */
const idleAfter = 30_000;
/** Bytes of journal worth folding in at an idle moment. */
const idleLimit = 1 << 20;
/** A live sealer has this long to publish the snapshot (milliseconds). */
const sealerPatience = 60_000;

export class Generations {
  readonly #options: GenerationOptions;
  #running: Promise<void> | null = null;
  #lastCommitAt: number;
  /** The snapshot of the current generation is known to be there. */
  #isPublished: boolean;
  #movedAt: number;
  #sealedBy: string | null = null;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#lastCommitAt = options.clock();
    this.#movedAt = options.clock();
    this.#isPublished = this.#isOurSnapshotCurrent();
  }

  /** After each commit of this window. */
  committed(): void {
    this.#lastCommitAt = this.#options.clock();
    const { live, journalLimit, blobs } = this.#options;
    const limit = Math.max(journalLimit, live.snapshotBytes / 10);
    if (live.replica.journal.position > limit || blobs.writtenBytes > limit * blobShare) this.#begin();
  }

  /** The window moved to another generation. */
  moved(sealedBy: string | null): void {
    this.#options.blobs.writtenBytes = 0;
    this.#movedAt = this.#options.clock();
    this.#sealedBy = sealedBy;
    this.#isPublished = sealedBy === null && this.#isOurSnapshotCurrent();
  }

  /** Milliseconds since the last commit of this window. */
  get idleTime(): number {
    return this.#options.clock() - this.#lastCommitAt;
  }

  /** From time to time: idle moments, and sealers that died. */
  look(): void {
    const { live, clock, presence } = this.#options;
    if (this.#running !== null) return;
    const isIdle = this.idleTime > idleAfter;
    if (isIdle && live.replica.journal.position > idleLimit) this.#begin();
    if (this.#isPublished) return;
    const isSealerLate = clock() - this.#movedAt > sealerPatience;
    const isSealerGone = this.#sealedBy === null || !presence.isAlive(this.#sealedBy);
    if (isSealerLate || isSealerGone) this.#begin();
  }

  /** Makes a checkpoint now, whatever the sizes; one at a time. Rejects with why not. */
  async checkpoint(): Promise<void> {
    while (this.#running !== null) await this.#running;
    await this.#run();
  }

  /** Resolves when no checkpoint is running; none is waited for that runs in a worker. */
  async settled(): Promise<void> {
    if (this.#running !== null) await this.#running;
  }

  /**
   * Saves the state in memory as a new generation: the journal on disk can no longer be trusted, only what windows hold.
   * `isBroken`: not even the seal can be synced there.
   */
  async saveMemory(isBroken: boolean): Promise<void> {
    const { files, folder, live, committer, windowId, now, log } = this.#options;
    const { generation } = live.replica.journal;
    await this.#makeNextJournal(generation);
    const seal = committer.seal(generation, windowId);
    if (seal === null) {
      if (isBroken) throw new Error('another window moved on');
      return;
    }
    // The state in memory is the seal's at this moment, and only at this moment.
    const image = imageOf(live.replica.database, generation + 1, seal);
    publishSnapshot(files, folder, image, generation + 1, seal, windowId);
    this.#isPublished = true;
    live.noteSnapshot(image.length);
    log(`saved the state from memory as generation ${generation + 1}`);
    moveReplacedAside({ files, folder, generation, stamp: `${now()}-${windowId}`, log });
  }

  #isOurSnapshotCurrent(): boolean {
    const { live } = this.#options;
    return live.snapshotGeneration === live.replica.journal.generation;
  }

  #begin(): void {
    const { runner, clock, log } = this.#options;
    if (this.#running !== null || runner === null) return;
    // After a failure (a full disk) not at every commit again.
    if (clock() - this.#failedAt < sealerPatience / 2) return;
    this.#run().catch((error: unknown) => {
      if (error instanceof StoreClosedError) return; // the next window makes it
      this.#failedAt = clock();
      log(`the checkpoint failed: ${String(error)}`);
    });
  }

  #run(): Promise<void> {
    const checkpoint = this.#checkpoint().finally(() => {
      this.#running = null;
    });
    // Who waits for it to be over does not ask whether it failed.
    this.#running = checkpoint.catch(() => undefined);
    return checkpoint;
  }

  async #checkpoint(): Promise<void> {
    const { live, committer, durability, windowId } = this.#options;
    const { generation } = live.replica.journal;
    if (!this.#isPublished) {
      await this.#publish({ generation, seal: null });
      return;
    }
    await this.#makeNextJournal(generation);
    if (live.replica.journal.generation !== generation) return;
    const seal = committer.seal(generation, windowId);
    if (seal === null) return;
    await durability.wait(seal.seq);
    await this.#publish({ generation: generation + 1, seal: { seq: seal.seq, crc: seal.crc } });
  }

  async #publish(job: Pick<CheckpointJob, 'generation' | 'seal'>): Promise<void> {
    const { files, folder, live, runner, windowId, presence } = this.#options;
    if (runner === null) return;
    await runner({ folder, windowId, ...job }, (id) => presence.isAlive(id));
    const name = listFolder(files, folder).snapshots.find(({ generation }) => generation === job.generation);
    if (name === undefined) return; // newer ones replaced it meanwhile
    live.noteSnapshot(files.statusOf(inFolder(folder, name.name))?.size ?? live.snapshotBytes);
    if (live.replica.journal.generation === job.generation) this.#isPublished = true;
  }

  /**
   * Makes the journal a seal leads to. If it had to be made although newer generations exist, this window slept, and what it
   * made is an orphan that nobody may find.
   */
  async #makeNextJournal(generation: number): Promise<void> {
    const { files, folder, live } = this.#options;
    const isMade = this.#createJournal(generation + 1);
    const newest = listFolder(files, folder).snapshots[0]?.generation ?? 0;
    if (isMade && newest > generation + 1) {
      files.remove(inFolder(folder, journalName(generation + 1)));
      live.catchUp();
      return;
    }
    await files.syncFolder(folder);
  }

  /** False: it was there. */
  #createJournal(generation: number): boolean {
    const { files, folder } = this.#options;
    try {
      new Journal(files, folder, generation, 'createNew').close();
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') return false;
      throw error;
    }
  }
}
