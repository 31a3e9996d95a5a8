/**
 * The checkpoint: folds the journals up to a seal into a new snapshot, and removes what no open needs any more. It reads
 * everything from disk itself, so it cannot spread a fault of some window's memory. Synchronous: it runs in a worker.
 */
import type { ChainPosition } from './chain.ts';
import { moveAside } from './aside.ts';
import { blobNames, collectBlobs } from './collectBlobs.ts';
import { isHeldOpen, StoreDamagedError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, journalName, listFolder, type SnapshotName } from './folder.ts';
import { Journal } from './journal.ts';
import type { Engine } from './openDatabase.ts';
import { Replica } from './replica.ts';
import { emptySnapshot, loadSnapshot, type Snapshot } from './snapshot.ts';
import {
  arrangePages,
  hasSnapshot,
  imageOf,
  publishSnapshot,
  temporarySuffix,
  verifySnapshot,
} from './writeSnapshot.ts';

export interface CheckpointJob {
  readonly folder: string;
  /** The generation the snapshot begins. */
  readonly generation: number;
  /** The seal to arrive at; null: whatever seals the generation before. */
  readonly seal: ChainPosition | null;
  /** The window that asks for it. */
  readonly windowId: string;
}

/** What a checkpoint needs of the process it runs in. */
export interface CheckpointServices {
  readonly files: FileLayer;
  readonly engine: Engine;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** Whether a window may still write; one of which that is not known counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
}

/** What snapshots name, by their file's name. */
type KnownNames = Map<string, ReadonlySet<string>>;

/** Leftovers of a publication are removed after this long (milliseconds). */
const oldTemporary = 3_600_000;
const keptSnapshots = 2;

/**
 * Makes the snapshot if it is not there, then cleans up. Throws StoreDamagedError if it does not arrive at the seal, and
 * what node:fs throws; nothing is removed then.
 */
export function runCheckpoint(services: CheckpointServices, job: CheckpointJob): void {
  const { files, now } = services;
  const known: KnownNames = new Map();
  if (!hasSnapshot(files, job.folder, job.generation)) {
    // The new one may get the very name of a damaged one, and must not replace it.
    const bad = listFolder(files, job.folder).snapshots.filter(
      ({ generation }) => generation === job.generation,
    );
    moveAside(
      files,
      job.folder,
      bad.map(({ name }) => name),
      `${now}-${job.windowId}`,
    );
    try {
      makeSnapshot(services, job, known);
    } catch (error) {
      // Another window was faster with the same snapshot, and has removed what this one was about to read.
      if (!hasSnapshot(files, job.folder, job.generation)) throw error;
    }
  }
  cleanUp(services, job, known);
}

function makeSnapshot({ files, engine }: CheckpointServices, job: CheckpointJob, known: KnownNames): void {
  const { folder, generation, seal } = job;
  const { snapshot, base, name } = loadBase(files, engine, job);
  if (name !== null) known.set(name, blobNames(snapshot.database));
  const replica = new Replica({
    files,
    folder,
    database: snapshot.database,
    start: snapshot.position,
    journal: new Journal(files, folder, base, 'read'),
    access: 'read',
    witness: seal,
    clock: () => 0,
    lastGeneration: generation - 1,
    onMove: (left) => left.close(),
  });
  try {
    replica.catchUp();
    const { position } = replica;
    const hasArrived = seal === null || (position.seq === seal.seq && position.crc === seal.crc);
    if (!replica.isAtLastSeal || !hasArrived) {
      throw new StoreDamagedError(
        replica.journal.path,
        `it does not lead to the seal of generation ${generation}`,
      );
    }
    const check = replica.database.maintain('PRAGMA quick_check');
    if (check !== 'ok') throw new StoreDamagedError(folder, `the state is not sound: ${String(check)}`);
    arrangePages(replica.database);
    const names = blobNames(replica.database);
    const image = imageOf(replica.database, generation, position);
    const published = publishSnapshot(files, folder, image, generation, position, job.windowId);
    if (published !== null) known.set(published, names);
  } finally {
    replica.close();
  }
}

/** The newest older snapshot that holds, or the beginning of the store. */
function loadBase(
  files: FileLayer,
  engine: Engine,
  { folder, generation }: CheckpointJob,
): { snapshot: Snapshot; base: number; name: string | null } {
  for (const name of listFolder(files, folder).snapshots) {
    if (name.generation >= generation) continue;
    try {
      const snapshot = loadSnapshot(files, folder, engine, name);
      return { snapshot, base: name.generation, name: name.name };
    } catch (error) {
      if (!(error instanceof StoreDamagedError) && systemErrorCode(error) !== 'ENOENT') throw error;
    }
  }
  return { snapshot: emptySnapshot(engine), base: 1, name: null };
}

/**
 * Keeps the two newest verified snapshots and every journal from the older one on. Bad snapshots found on the way are moved
 * aside. While there is only one good snapshot nothing is removed. Blobs go first: what goes after them proves that they were
 * named once.
 */
function cleanUp(services: CheckpointServices, { folder, windowId }: CheckpointJob, known: KnownNames): void {
  const { files, now } = services;
  const listing = listFolder(files, folder);
  const kept: SnapshotName[] = [];
  const bad: string[] = [];
  for (const name of listing.snapshots) {
    if (kept.length === keptSnapshots) break;
    if (kept.at(-1)?.generation === name.generation) continue;
    if (verifySnapshot(files, folder, name)) kept.push(name);
    else bad.push(name.name);
  }
  moveAside(files, folder, bad, `${now}-${windowId}`);
  const oldest = kept.at(-1);
  if (oldest === undefined || kept.length < keptSnapshots) return;
  const older = listing.snapshots.filter((name) => name.generation < oldest.generation);
  if (!collectBlobs({ ...services, folder, kept, removable: older, known })) return;
  const removable = [
    ...older.map(({ name }) => name),
    ...listing.journals.filter((generation) => generation < oldest.generation).map(journalName),
    ...[...listing.names].filter((name) => isOldTemporary(files, folder, name, now)),
  ];
  for (const name of removable) {
    try {
      files.remove(inFolder(folder, name));
    } catch (error) {
      if (!isHeldOpen(error)) throw error; // the next checkpoint tries again
    }
  }
  if (removable.length > 0) files.syncFolderNow(folder);
}

function isOldTemporary(files: FileLayer, folder: string, name: string, now: number): boolean {
  if (!name.endsWith(temporarySuffix)) return false;
  const status = files.statusOf(inFolder(folder, name));
  return status !== null && now - status.modifiedAt > oldTemporary;
}
