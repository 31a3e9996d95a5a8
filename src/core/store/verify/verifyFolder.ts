/**
 * Verifying: is everything that is in the folder what it should be? It reads the folder from outside and never writes to
 * it, beside running windows as well: a store is repaired when it is opened, not when it is looked at.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { listBlobs, readerOf } from '../blobFile.ts';
import type { ChainPosition } from '../chain.ts';
import { StoreError, systemErrorCode } from '../errors.ts';
import { nodeFiles, type FileLayer } from '../fileLayer.ts';
import { listFolder, markName, type SnapshotName } from '../folder.ts';
import { readMark } from '../mark.ts';
import { loadEngine, type Database, type Engine } from '../openDatabase.ts';
import { openReplica } from '../openReplica.ts';
import { loadSnapshot } from '../snapshot.ts';
import { bringUpToDate } from '../transfer/otherFolder.ts';
import { checkRows, type RowReport } from './checkRows.ts';
import { FolderChangedError, walkJournals } from './walkJournals.ts';

export interface VerifyReport {
  readonly ok: boolean;
  /** A sentence for each. */
  readonly faults: readonly string[];
  readonly sessions: number;
  readonly messages: number;
  /** Changes in the journals that are kept. */
  readonly frames: number;
  /** Changes that lost a race and left no trace, and what torn writes left. */
  readonly skippedFrames: number;
  /** Files of large contents. */
  readonly blobs: number;
  /** Those of them that no message or draft names now: kept for older snapshots, or to be removed at a checkpoint. */
  readonly unnamedBlobs: number;
}

interface Place {
  readonly files: FileLayer;
  readonly folder: string;
  readonly engine: Engine;
}

/** Checkpoints that may come in between. */
const mostAttempts = 10;
const attemptPause = 200;

/** Throws StoreErrors and what node:fs throws if the folder cannot be read at all. */
export async function verifyFolder(folder: string, wasmFile: string): Promise<VerifyReport> {
  const engine = await loadEngine(nodeFiles.readFile(wasmFile));
  for (let attempt = 1; ; attempt++) {
    try {
      return verifyOnce({ files: nodeFiles, folder, engine });
    } catch (error) {
      if (!(error instanceof FolderChangedError) || attempt === mostAttempts) throw error;
      await pause(attemptPause);
    }
  }
}

function verifyOnce(place: Place): VerifyReport {
  const { files, folder } = place;
  const listing = listFolder(files, folder);
  const mark = readMark(files, folder);
  const faults: string[] = [];
  if (mark === null && listing.names.has(markName)) faults.push(`The file ${markName} is damaged.`);
  const isEmpty = listing.snapshots.length === 0 && listing.journals.length === 0;
  if (isEmpty && !listing.names.has(markName)) {
    const nothing = { sessions: 0, messages: 0, frames: 0, skippedFrames: 0, blobs: 0, unnamedBlobs: 0 };
    return { ok: true, faults, ...nothing };
  }
  // Before the state is read: whatever is named later was there before.
  const blobs = listBlobs(place);
  const starts = new Map<number, ChainPosition>();
  for (const name of listing.snapshots) {
    const position = checkSnapshot(place, name, faults);
    if (position !== null) starts.set(name.generation, position);
  }
  const walked = walkJournals({ files, folder, listing, starts, mark });
  faults.push(...walked.faults);
  const state = checkState(place, faults.length > 0);
  const newest = listFolder(files, folder).snapshots[0]?.name;
  if (state.faults.length > 0 && newest !== listing.snapshots[0]?.name) {
    throw new FolderChangedError('a checkpoint was made');
  }
  faults.push(...state.faults);
  return {
    ok: faults.length === 0,
    faults,
    sessions: state.sessions,
    messages: state.messages,
    frames: walked.frames,
    skippedFrames: walked.skippedFrames,
    blobs: blobs.length,
    unnamedBlobs: blobs.filter((name) => !state.blobs.has(name)).length,
  };
}

/** Null: it does not hold. */
function checkSnapshot(place: Place, name: SnapshotName, faults: string[]): ChainPosition | null {
  const { files, folder, engine } = place;
  try {
    const { database, position } = loadSnapshot(files, folder, engine, name);
    try {
      faults.push(...soundness(database, name.name));
    } finally {
      database.close();
    }
    return position;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') throw new FolderChangedError(`${name.name} is gone`);
    if (systemErrorCode(error) !== null) throw error;
    faults.push(
      `The snapshot ${name.name} is damaged: ${error instanceof Error ? error.message : String(error)}`,
    );
    return null;
  }
}

function soundness(database: Database, what: string): string[] {
  const answer = database.maintain('PRAGMA integrity_check(1)');
  return answer === 'ok' ? [] : [`${what} is not a sound database: ${String(answer)}`];
}

const nothingRead = { sessions: 0, messages: 0, blobs: new Set<string>() };

/** The state as a window would open it. `isKnown`: faults were found that may be why it cannot be opened. */
function checkState({ files, folder, engine }: Place, isKnown: boolean): RowReport {
  let opened;
  try {
    opened = openReplica({
      files,
      folder,
      engine,
      access: 'read',
      clock: () => performance.now(),
      onMove: (left) => left.close(),
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...nothingRead, faults: isKnown ? [] : [error.message] };
  }
  const { database } = opened.replica;
  try {
    const unsound = soundness(database, 'The state');
    if (unsound.length > 0) return { ...nothingRead, faults: unsound };
    bringUpToDate(database);
    return checkRows(readerOf(database, { files, folder }));
  } finally {
    opened.replica.close();
  }
}
