/** Publishing a snapshot: written beside, synced, read back, and then named by one rename. Synchronous: for workers. */
import type { ChainPosition } from './chain.ts';
import { StoreDamagedError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, listFolder, snapshotName, type SnapshotName } from './folder.ts';
import { crc32, formatCrc } from './frame.ts';
import { checksumOf } from './image.ts';
import type { Database } from './openDatabase.ts';

/** Bytes per write call. */
const pieceSize = 1 << 22;
/** A database up to this size (bytes) grows fast enough by itself: sql.js copies all of it then. */
const smallDatabase = 4 << 20;
/** Free pages in the snapshots of larger ones (bytes), so that inserts after an open need not grow it. */
const mostFree = 16 << 20;

export const temporarySuffix = '.tmp';

/** Writes down where the state stands, and gives the file's bytes, which hold until the database is changed. */
export function imageOf(database: Database, generation: number, position: ChainPosition): Uint8Array {
  const facts: Record<string, string> = {
    snapshot_generation: String(generation),
    snapshot_seq: String(position.seq),
    snapshot_crc: formatCrc(position.crc),
  };
  for (const [key, value] of Object.entries(facts)) {
    database.run({ sql: 'INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)', parameters: [key, value] });
  }
  return database.image();
}

/** Vacuums if much is free, then leaves as many free pages as an open database is glad of. */
export function arrangePages(database: Database): void {
  const pageSize = Number(database.maintain('PRAGMA page_size'));
  const count = (): number => Number(database.maintain('PRAGMA page_count'));
  const free = (): number => Number(database.maintain('PRAGMA freelist_count'));
  const wanted = (): number => {
    const used = (count() - free()) * pageSize;
    return Math.floor(Math.min(mostFree, Math.max(0, 2 * (used - smallDatabase))) / pageSize);
  };
  if (free() > Math.max(count() / 5, wanted() + 16)) database.maintain('VACUUM');
  const missing = (wanted() - free()) * pageSize;
  if (missing < 16 * pageSize) return;
  database.maintain('CREATE TABLE filler(bytes)');
  database.maintain(`INSERT INTO filler(bytes) VALUES(zeroblob(${missing}))`);
  database.maintain('DROP TABLE filler');
}

/** Reads a snapshot file: whether it is there and is what its name says. Throws what node:fs throws. */
export function verifySnapshot(files: FileLayer, folder: string, name: SnapshotName): boolean {
  try {
    return checksumOf(files, inFolder(folder, name.name)) === name.crc;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false; // another window's checkpoint made it superfluous
    throw error;
  }
}

/**
 * Publishes the image unless a valid snapshot of the generation, or a newer one, is there already: the first one wins and is never
 * overwritten. `owner` keeps two windows from writing the same temporary file. Throws what node:fs throws (ENOSPC), and
 * StoreDamagedError if what was written reads back differently. Returns the name if it was published.
 */
export function publishSnapshot(
  files: FileLayer,
  folder: string,
  image: Uint8Array,
  generation: number,
  position: ChainPosition,
  owner: string,
): string | null {
  const crc = crc32(image);
  const name = snapshotName(generation, position.seq, crc);
  const temporary = inFolder(folder, `${name}.${owner}${temporarySuffix}`);
  files.remove(temporary);
  const descriptor = files.open(temporary, 'createNew');
  try {
    let done = 0;
    while (done < image.length) done += files.append(descriptor, image.subarray(done, done + pieceSize));
    files.syncNow(descriptor);
  } finally {
    files.close(descriptor);
  }
  if (checksumOf(files, temporary) !== crc) {
    files.remove(temporary);
    throw new StoreDamagedError(temporary, 'it reads back differently than it was written');
  }
  if (hasSnapshot(files, folder, generation)) {
    files.remove(temporary);
    return null;
  }
  files.rename(temporary, inFolder(folder, name));
  files.syncFolderNow(folder);
  return name;
}

/** Whether the generation's snapshot is there, or a newer one, which stands for it. */
export function hasSnapshot(files: FileLayer, folder: string, generation: number): boolean {
  return listFolder(files, folder).snapshots.some(
    (name) => name.generation >= generation && verifySnapshot(files, folder, name),
  );
}
