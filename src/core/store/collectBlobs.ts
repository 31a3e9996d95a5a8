/**
 * Which blob files nobody can need any more. Names are never used again, so a blob goes when no kept snapshot or journal names it
 * and it was named once (what is about to be removed names it), or when its window is dead, so that nobody will name it.
 */
import * as v from 'valibot';
import { blobPath, listBlobs, ownerOfBlob, parseReference, type BlobPlace } from './blobFile.ts';
import { isHeldOpen, StoreDamagedError, systemErrorCode } from './errors.ts';
import { blobsFolderName, inFolder, journalName, listFolder, type SnapshotName } from './folder.ts';
import type { Engine } from './openDatabase.ts';
import { loadSnapshot } from './snapshot.ts';
import type { RowReader } from './transaction.ts';

export interface BlobCollection extends BlobPlace {
  readonly engine: Engine;
  /** The snapshots that are kept, all of which hold; journals are kept from the oldest of them on. */
  readonly kept: readonly SnapshotName[];
  /** Those that are about to be removed. */
  readonly removable: readonly SnapshotName[];
  /** What some snapshots name, as far as that is known: they need not be read again. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** Whether a window may still write; one of which that is not known counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
}

/** A file that is not whole enough to name its window is removed after this long (milliseconds). */
const oldHalf = 3_600_000;

const namingRows = `SELECT blob FROM messages WHERE blob IS NOT NULL UNION ALL SELECT blob FROM drafts WHERE blob IS NOT NULL`;
/** A reference as it stands in the JSON of a frame. */
const referenceInFrame = /"([0-9A-Z]{26} [A-Za-z0-9_-]{43})"/g;

/** Names of the blobs that rows of this state name. */
export function blobNames(rows: RowReader): Set<string> {
  const references = rows.all(namingRows).map((row) => v.parse(v.string(), row['blob']));
  return new Set(references.map(nameIn));
}

function nameIn(reference: string): string {
  return parseReference(reference)?.name ?? reference;
}

/**
 * Removes the blobs that are not needed; to be called before what is removable is removed. Returns false if the system did not
 * let go of one, or if another window's checkpoint changed the folder meanwhile: then what names blobs must stay, as proof for
 * the next time. Throws what node:fs throws.
 */
export function collectBlobs(collection: BlobCollection): boolean {
  try {
    return collect(collection);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function collect(collection: BlobCollection): boolean {
  const { kept, removable } = collection;
  const unnamed = new Set(listBlobs(collection));
  const spare = (names: Iterable<string>): void => {
    for (const name of names) unnamed.delete(name);
  };
  const first = Math.min(...kept.map(({ generation }) => generation));
  const spareInJournals = (): void => spare(namesInJournals(collection, (generation) => generation >= first));
  for (const snapshot of kept) if (unnamed.size > 0) spare(namesInSnapshot(collection, snapshot));
  if (unnamed.size > 0) spareInJournals();
  if (unnamed.size === 0) return true;

  const dead = [...unnamed].filter((name) => isAbandoned(collection, name));
  const others = [...unnamed].filter((name) => !dead.includes(name));
  // A window may have named one after the journals were read, and died before it was asked whether it lives.
  spareInJournals();
  const dropped = new Set<string>();
  if (others.length > 0) {
    for (const name of namesInJournals(collection, (generation) => generation < first)) dropped.add(name);
    for (const snapshot of removable) {
      for (const name of namesInSnapshot(collection, snapshot)) dropped.add(name);
    }
  }
  const gone = [...dead, ...others.filter((name) => dropped.has(name))].filter((name) => unnamed.has(name));
  return removeAll(collection, gone);
}

function isAbandoned(collection: BlobCollection, name: string): boolean {
  const owner = ownerOfBlob(collection, name);
  if (owner !== null) return !collection.isWindowAlive(owner);
  const status = collection.files.statusOf(blobPath(collection.folder, name));
  return status !== null && collection.now - status.modifiedAt > oldHalf;
}

function namesInSnapshot(collection: BlobCollection, name: SnapshotName): Iterable<string> {
  const { files, folder, engine, known } = collection;
  const names = known.get(name.name);
  if (names !== undefined) return names;
  try {
    const { database } = loadSnapshot(files, folder, engine, name);
    try {
      return blobNames(database);
    } finally {
      database.close();
    }
  } catch (error) {
    // A damaged one that is removed proves nothing; those that are kept hold.
    if (collection.removable.includes(name) && error instanceof StoreDamagedError) return [];
    throw error;
  }
}

function* namesInJournals(
  { files, folder }: BlobPlace,
  isWanted: (generation: number) => boolean,
): Generator<string> {
  for (const generation of listFolder(files, folder).journals.filter(isWanted)) {
    const text = Buffer.from(files.readFile(inFolder(folder, journalName(generation)))).toString('latin1');
    for (const [, reference = ''] of text.matchAll(referenceInFrame)) yield nameIn(reference);
  }
}

function removeAll({ files, folder }: BlobPlace, names: readonly string[]): boolean {
  let isComplete = true;
  for (const name of names) {
    try {
      files.remove(blobPath(folder, name));
    } catch (error) {
      if (!isHeldOpen(error)) throw error;
      isComplete = false;
    }
  }
  if (names.length > 0) files.syncFolderNow(inFolder(folder, blobsFolderName));
  return isComplete;
}
