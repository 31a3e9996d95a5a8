/** Reading a store's folder that is not this window's: another profile's, an older copy. Nothing in it is changed. */
import { ulid } from 'ulid';
import { StoreOutdatedError, StoreUnavailableError, systemErrorCode } from '../errors.ts';
import { readerOf } from '../blobFile.ts';
import { nodeFiles } from '../fileLayer.ts';
import { listFolder } from '../folder.ts';
import { migrateDatabase, readRequirements, schemaVersion } from '../migrations.ts';
import type { Database, Engine } from '../openDatabase.ts';
import { openReplica } from '../openReplica.ts';
import { Store } from '../store.ts';
import type { ReadTransaction } from '../transaction.ts';

/**
 * Runs `use` with the state of the folder as this version would have it. Throws StoreUnavailableError if there is no store,
 * StoreDamagedError for one that needs `holdfast salvage` first, and StoreOutdatedError for one of a newer version.
 */
export async function withOtherFolder<T>(
  folder: string,
  engine: Engine,
  use: (reader: ReadTransaction) => Promise<T>,
): Promise<T> {
  refuseNoStore(folder);
  const { replica } = openReplica({
    files: nodeFiles,
    folder,
    engine,
    access: 'read',
    clock: () => performance.now(),
    onMove: (left) => left.close(),
  });
  try {
    bringUpToDate(replica.database);
    return await use(readerOf(replica.database, { files: nodeFiles, folder }));
  } finally {
    replica.close();
  }
}

/**
 * The folder's store, read and followed as a window follows its own until it is closed. Throws StoreUnavailableError,
 * StoreDamagedError and StoreOutdatedError as above.
 */
export async function followOtherFolder(
  folder: string,
  options: { readonly wasm: Uint8Array | string; readonly log: (line: string) => void },
): Promise<Store> {
  refuseNoStore(folder);
  return Store.open({ ...options, folder, access: 'read', checkpointWorkerFile: null, windowId: ulid() });
}

function refuseNoStore(folder: string): void {
  try {
    const { snapshots, journals } = listFolder(nodeFiles, folder);
    if (snapshots.length > 0 || journals.length > 0) return;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw new StoreUnavailableError(folder, code, error);
  }
  throw new StoreUnavailableError(folder, 'it holds no chats');
}

/**
 * Brings a copy of a state in memory to this version's schema; what it was read from stays as it is. Throws
 * StoreOutdatedError.
 */
export function bringUpToDate(database: Database): void {
  if (readRequirements(database).minReader > schemaVersion) throw new StoreOutdatedError('reading');
  migrateDatabase(database);
}
