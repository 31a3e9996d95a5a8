/**
 * Rescue of a damaged store when no window holds its state: every frame that can still be read goes into a new generation,
 * the damaged files are kept aside, and what is missing is written down for the user. It decides by the files alone, so two
 * windows that try arrive at the same.
 */
import { moveAside } from './aside.ts';
import { createBlobFile, listBlobs } from './blobFile.ts';
import { splitLines } from './chain.ts';
import { blobNames } from './collectBlobs.ts';
import type { FileLayer } from './fileLayer.ts';
import { blobsFolderName, inFolder, journalName, listFolder, type SnapshotName } from './folder.ts';
import { crc32, decodePayload, type Frame } from './frame.ts';
import { Journal } from './journal.ts';
import { readMark } from './mark.ts';
import { migrateDatabase } from './migrations.ts';
import { Database, rowWriterOf, type Engine } from './openDatabase.ts';
import { adoptOrphans } from './orphans.ts';
import { systemErrorCode } from './errors.ts';
import { faultPrefix } from './faults.ts';
import { loadSnapshot, type Snapshot } from './snapshot.ts';
import { imageOf, publishSnapshot } from './writeSnapshot.ts';

export interface SalvageReport {
  /** Changes that are known to have been saved and are lost, as ranges of sequence numbers. */
  readonly missing: readonly (readonly [number, number])[];
  /** Changes that are readable but could no longer be made, because what they build on is missing. */
  readonly failed: number;
  readonly applied: number;
  /** Names of the files that were moved aside. */
  readonly aside: readonly string[];
}

export interface SalvageOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly engine: Engine;
  readonly windowId: string;
  readonly now: () => number;
}

/**
 * Throws what node:fs throws; the damaged files are untouched then. With another `target`, an empty folder, the store is made
 * there: `folder` is only read, and a file that the system cannot read is told to `onUnreadable` and left out.
 */
export function salvage(
  options: SalvageOptions,
  target = options.folder,
  onUnreadable: (name: string, error: unknown) => void = rethrow,
): SalvageReport {
  const { files, folder, windowId, now } = options;
  const listing = listFolder(files, folder);
  const mark = readMark(files, folder);
  const { snapshot, generation, bad } = loadNewest(options, listing.snapshots, onUnreadable);
  const journals = listing.journals.filter((journal) => journal >= generation);
  const frames = journals.flatMap((journal) => readFrames(files, folder, journal, onUnreadable));
  const chosen = chooseFrames(frames, snapshot?.position ?? { seq: 0, crc: 0 });
  const database = snapshot?.database ?? new Database(options.engine, null);
  const blobs = snapshot === null ? new Set<string>() : blobNames(database);
  const report = replay(database, chosen, snapshot?.position.seq ?? 0, mark?.seq ?? 0);
  const last = Math.max(mark?.seq ?? 0, snapshot?.position.seq ?? 0, ...frames.map((frame) => frame.seq));
  const seq = last + 1;
  adoptOrphans({ ...rowWriterOf(database), seq });
  const position = { seq, crc: crc32(Buffer.from(`salvaged ${seq}`)) };
  const next =
    Math.max(mark?.generation ?? 0, listing.snapshots[0]?.generation ?? 0, ...listing.journals, 0) + 1;
  const isInPlace = target === folder;
  const aside = isInPlace ? [...journals.map(journalName), ...bad.map(({ name }) => name)] : [];
  try {
    for (const name of blobNames(database)) blobs.add(name);
    if (!isInPlace) copyBlobs(options, blobs, target, onUnreadable);
    if (isInPlace || report.missing.length + report.failed > 0) {
      database.run({
        sql: 'INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)',
        parameters: [`${faultPrefix}${seq}`, JSON.stringify({ at: now(), ...report, aside })],
      });
    }
    new Journal(files, target, next, 'create').close();
    files.syncFolderNow(target);
    publishSnapshot(files, target, imageOf(database, next, position), next, position, windowId);
  } finally {
    database.close();
  }
  // Blobs that only what was lost named are kept with it.
  const unnamed = isInPlace ? listBlobs(options).filter((name) => !blobs.has(name)) : [];
  const all = [...aside, ...unnamed.map((name) => `${blobsFolderName}/${name}`)];
  moveAside(files, folder, all, `${now()}-${windowId}`);
  return { ...report, aside };
}

function copyBlobs(
  { files, folder }: SalvageOptions,
  names: ReadonlySet<string>,
  target: string,
  onUnreadable: (name: string, error: unknown) => void,
): void {
  for (const name of names) {
    const bytes = readFile(files, folder, `${blobsFolderName}/${name}`, onUnreadable);
    if (bytes !== null) createBlobFile({ files, folder: target }, name, bytes);
  }
  if (names.size > 0) files.syncFolderNow(inFolder(target, blobsFolderName));
}

/** Null: it cannot be read, and `onUnreadable` was told. */
function readFile(
  files: FileLayer,
  folder: string,
  name: string,
  onUnreadable: (name: string, error: unknown) => void,
): Uint8Array | null {
  try {
    return files.readFile(inFolder(folder, name));
  } catch (error) {
    onUnreadable(name, error);
    return null;
  }
}

function loadNewest(
  { files, folder, engine }: SalvageOptions,
  names: readonly SnapshotName[],
  onUnreadable: (name: string, error: unknown) => void,
): { snapshot: Snapshot | null; generation: number; bad: SnapshotName[] } {
  const bad: SnapshotName[] = [];
  for (const name of names) {
    try {
      return { snapshot: loadSnapshot(files, folder, engine, name), generation: name.generation, bad };
    } catch (error) {
      if (systemErrorCode(error) !== null) onUnreadable(name.name, error);
      bad.push(name);
    }
  }
  return { snapshot: null, generation: 0, bad };
}

function readFrames(
  files: FileLayer,
  folder: string,
  generation: number,
  onUnreadable: (name: string, error: unknown) => void,
): Frame[] {
  const bytes = readFile(files, folder, journalName(generation), onUnreadable);
  return bytes === null ? [] : [...splitLines(Buffer.from(bytes))].flatMap(({ frame }) => frame ?? []);
}

/** Repairing in place: what the system cannot read now may be readable later. */
function rethrow(_: string, error: unknown): never {
  throw error;
}

/**
 * The frames to replay: those that chain from the start, then, behind each gap, the longest chain that goes on from there
 * (shorter ones are frames that had lost a race).
 */
function chooseFrames(frames: readonly Frame[], start: { seq: number; crc: number }): Frame[] {
  const chosen: Frame[] = [];
  let position = start;
  let index = 0;
  for (;;) {
    for (; index < frames.length; index++) {
      const frame = frames[index];
      if (frame?.seq !== position.seq + 1 || frame.previous !== position.crc) continue;
      chosen.push(frame);
      position = frame;
    }
    const next = startOfLongestChain(frames, position.seq, chosen.at(-1));
    if (next === null) return chosen;
    const first = frames[next];
    if (first === undefined) return chosen;
    chosen.push(first);
    position = first;
    index = next + 1;
  }
}

/** Among the frames behind `last` with a higher number than `seq`. */
function startOfLongestChain(frames: readonly Frame[], seq: number, last: Frame | undefined): number | null {
  const from = last === undefined ? 0 : frames.indexOf(last) + 1;
  const heads = new Map<string, { start: number; length: number }>();
  let best: { start: number; length: number } | null = null;
  for (let index = from; index < frames.length; index++) {
    const frame = frames[index];
    if (frame === undefined || frame.seq <= seq) continue;
    const before = heads.get(`${frame.seq - 1} ${frame.previous}`);
    const here = { start: before?.start ?? index, length: (before?.length ?? 0) + 1 };
    heads.set(`${frame.seq} ${frame.crc}`, here);
    if (best === null || here.length > best.length) best = here;
  }
  return best?.start ?? null;
}

function replay(
  database: Database,
  frames: readonly Frame[],
  start: number,
  marked: number,
): Omit<SalvageReport, 'aside'> {
  const missing: (readonly [number, number])[] = [];
  let failed = 0;
  let applied = 0;
  let seq = start;
  for (const frame of frames) {
    if (frame.seq > seq + 1) missing.push([seq + 1, frame.seq - 1]);
    if (seq === 0 && frame.seq > 1) migrateDatabase(database);
    seq = frame.seq;
    if (applyFrame(database, frame)) applied += 1;
    else failed += 1;
  }
  if (seq === 0) migrateDatabase(database);
  if (marked > seq) missing.push([seq + 1, marked]);
  return { missing, failed, applied };
}

/** All of a frame or nothing of it. */
function applyFrame(database: Database, frame: Frame): boolean {
  database.begin();
  try {
    const payload = decodePayload(frame.json);
    if (payload.type === 'statements') for (const statement of payload.statements) database.run(statement);
    database.commit();
    return true;
  } catch {
    // What it builds on is among the missing changes; the caller counts it and the user is told.
    database.rollback();
    return false;
  }
}
