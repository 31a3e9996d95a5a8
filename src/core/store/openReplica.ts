/**
 * Opening the folder: the newest generation whose snapshot holds, else the one before and both journals. Nothing is decided
 * from half a view: after an open the folder is listed again, and a newer generation means starting over.
 */
import type { ChainPosition } from './chain.ts';
import { StoreDamagedError, StoreError, systemErrorCode } from './errors.ts';
import { inFolder, journalName, listFolder, type FolderListing, type SnapshotName } from './folder.ts';
import { Journal } from './journal.ts';
import { readMark, type Mark } from './mark.ts';
import type { Engine } from './openDatabase.ts';
import { DisplacedError, Replica, type ReplicaOptions } from './replica.ts';
import { emptySnapshot, loadSnapshot, type Snapshot } from './snapshot.ts';

export interface OpenOptions extends Pick<
  ReplicaOptions,
  'files' | 'folder' | 'access' | 'clock' | 'onMove'
> {
  readonly engine: Engine;
}

export interface OpenedReplica {
  readonly replica: Replica;
  /** Bytes of the snapshot it came from; 0 without one. */
  readonly snapshotBytes: number;
  /** The generation of that snapshot; 1 without one. */
  readonly snapshotGeneration: number;
  /** Snapshots that turned out to be damaged and were not needed. */
  readonly badSnapshots: readonly SnapshotName[];
}

/** More changes of generation than this during one open are not plausible. */
const mostAttempts = 20;

/** Throws StoreDamagedError, or what node:fs throws if the folder cannot be used. */
export function openReplica(options: OpenOptions): OpenedReplica {
  for (let attempt = 1; ; attempt++) {
    const opened = tryOpen(options, listFolder(options.files, options.folder));
    if (opened !== null) return opened;
    if (attempt === mostAttempts) {
      throw new StoreDamagedError(options.folder, 'its files keep changing while they are opened');
    }
  }
}

/** Null: the folder changed meanwhile; start over. */
function tryOpen(options: OpenOptions, listing: FolderListing): OpenedReplica | null {
  const { files, folder, engine } = options;
  if (listing.snapshots.length === 0 && listing.journals.length === 0) startStore(options);
  const badSnapshots: SnapshotName[] = [];
  for (const name of listing.snapshots) {
    const snapshot = readSnapshot(options, name);
    if (snapshot === 'gone') return null;
    if (snapshot === 'bad') badSnapshots.push(name);
    else return follow(options, listing, snapshot, name.generation, badSnapshots);
  }
  const hasFirst = listing.journals.length === 0 || listing.journals.includes(1);
  if (!hasFirst) throw new StoreDamagedError(folder, 'no snapshot of it can be read');
  return follow(options, listing, emptySnapshot(engine), 1, badSnapshots);

  function readSnapshot(_: OpenOptions, name: SnapshotName): Snapshot | 'gone' | 'bad' {
    try {
      return loadSnapshot(files, folder, engine, name);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return 'gone';
      return 'bad';
    }
  }
}

/**
 * The first journal of a new store. Whoever comes second opens the same file. A mark without any other file is what is left
 * of a store: that is damage, not a new beginning.
 */
function startStore({ files, folder, access }: OpenOptions): void {
  if (readMark(files, folder) !== null)
    throw new StoreDamagedError(folder, 'its snapshot and journal are missing');
  if (access === 'read') return;
  new Journal(files, folder, 1, 'create').close();
  files.syncFolderNow(folder);
}

function follow(
  options: OpenOptions,
  listing: FolderListing,
  snapshot: Snapshot,
  generation: number,
  badSnapshots: readonly SnapshotName[],
): OpenedReplica | null {
  const { files, folder } = options;
  const mark = readMark(files, folder);
  const witness: ChainPosition | null = mark;
  let replica: Replica | null = null;
  try {
    const journal = new Journal(files, folder, generation, options.access);
    const start = snapshot.position;
    replica = new Replica({
      ...options,
      database: snapshot.database,
      start,
      journal,
      witness,
      lastGeneration: null,
    });
    replica.catchUp();
    const newest = listFolder(files, folder).snapshots[0]?.generation ?? 0;
    if (newest > replica.journal.generation) {
      if (newest === listing.snapshots[0]?.generation) throw unreachable(options, newest);
      replica.close();
      return null;
    }
    checkMark(replica, mark);
    return { replica, snapshotBytes: snapshot.bytes, snapshotGeneration: generation, badSnapshots };
  } catch (error) {
    if (replica === null) snapshot.database.close();
    else replica.close();
    const isMissing = systemErrorCode(error) === 'ENOENT' || error instanceof DisplacedError;
    if (!isMissing || error instanceof StoreError) throw error;
    return retryOrDamaged(options, listing, generation);
  }
}

/** A journal is missing: a newer generation replaced it meanwhile, or somebody deleted it. */
function retryOrDamaged(options: OpenOptions, listing: FolderListing, generation: number): null {
  const now = listFolder(options.files, options.folder);
  const hasChanged =
    now.snapshots.map(({ name }) => name).join() !== listing.snapshots.map(({ name }) => name).join() ||
    now.journals.join() !== listing.journals.join();
  if (hasChanged) return null;
  throw new StoreDamagedError(
    inFolder(options.folder, journalName(generation)),
    'a journal of this generation is missing',
  );
}

function unreachable(options: OpenOptions, generation: number): StoreDamagedError {
  return new StoreDamagedError(options.folder, `generation ${generation} cannot be read`);
}

function checkMark(replica: Replica, mark: Mark | null): void {
  if (mark !== null && replica.position.seq < mark.seq) {
    throw new StoreDamagedError(
      replica.journal.path,
      `it ends at change ${replica.position.seq}; ${mark.seq} was saved`,
    );
  }
}
