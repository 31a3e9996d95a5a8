/** Snapshots: SQLite files of the state at a seal, published by one rename and never changed afterwards. */
import type { ChainPosition } from './chain.ts';
import { StoreDamagedError } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, type SnapshotName } from './folder.ts';
import { readImage } from './image.ts';
import { getMeta } from './meta.ts';
import { Database, type Engine } from './openDatabase.ts';

export interface Snapshot {
  readonly database: Database;
  /** The seal it was made at. */
  readonly position: ChainPosition;
  /** Size of the file in bytes. */
  readonly bytes: number;
}

/** The state before the first frame of the first generation. */
export function emptySnapshot(engine: Engine): Snapshot {
  return { database: new Database(engine, null), position: { seq: 0, crc: 0 }, bytes: 0 };
}

/** Throws StoreDamagedError for a file that is not what its name says, and what node:fs throws if it cannot be read. */
export function loadSnapshot(files: FileLayer, folder: string, engine: Engine, name: SnapshotName): Snapshot {
  const path = inFolder(folder, name.name);
  const { image, crc: checksum } = readImage(files, path);
  if (checksum !== name.crc) throw new StoreDamagedError(path, 'its checksum is wrong');
  const database = new Database(engine, image);
  const seq = Number(getMeta(database, 'snapshot_seq') ?? Number.NaN);
  const generation = Number(getMeta(database, 'snapshot_generation') ?? Number.NaN);
  const crc = Number.parseInt(getMeta(database, 'snapshot_crc') ?? '', 16);
  if (seq !== name.seq || generation !== name.generation || !Number.isInteger(crc)) {
    database.close();
    throw new StoreDamagedError(path, 'its contents belong to another name');
  }
  return { database, position: { seq, crc }, bytes: image.length };
}
