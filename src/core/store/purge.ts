/**
 * After a deletion: the files that hold what was deleted go. Two snapshots are kept, so that takes two checkpoints. The
 * databases overwrite what they delete (`secure_delete`), so that a snapshot holds nothing of it in its free pages.
 */
import { systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { asideFolderName, inFolder, journalName, listFolder } from './folder.ts';
import { temporarySuffix } from './writeSnapshot.ts';

export interface PurgeOptions {
  readonly files: FileLayer;
  readonly folder: string;
  /** The journal number of the last deletion. */
  readonly seq: number;
  /** Ends the generation and makes the snapshot of the next. */
  readonly checkpoint: () => Promise<void>;
  readonly isWindowAlive: (windowId: string) => boolean;
  /** The window goes, or makes no snapshots: what is left to do is done by another one. */
  readonly isStopped: () => boolean;
}

/** Two checkpoints, and one that another window had begun before the deletion. */
const mostCheckpoints = 3;

/**
 * Resolves to the files, named relative to the folder, that may still hold something deleted: damaged ones that were kept
 * aside, and those that the system did not let go of. Rejects if a checkpoint fails; then all may.
 */
export async function purge(options: PurgeOptions): Promise<string[]> {
  const { files, folder, seq } = options;
  for (let count = 0; count < mostCheckpoints; count++) {
    if (options.isStopped() || oldFiles(files, folder, seq).length === 0) break;
    await options.checkpoint();
  }
  removeAbandoned(options);
  return [...oldFiles(files, folder, seq), ...asideFiles(files, folder)];
}

/** Snapshots from before the change, and the journals that it or anything before it may stand in. */
export function oldFiles(files: FileLayer, folder: string, seq: number): string[] {
  if (seq === 0) return [];
  const { snapshots, journals } = listFolder(files, folder);
  const clean = snapshots.filter((snapshot) => snapshot.seq >= seq).map(({ generation }) => generation);
  const firstClean = Math.min(...clean, Number.POSITIVE_INFINITY);
  return [
    ...snapshots.filter((snapshot) => snapshot.seq < seq).map(({ name }) => name),
    ...journals.filter((generation) => generation < firstClean).map(journalName),
  ];
}

/** Half-written snapshots of windows that died: nobody will finish them. */
function removeAbandoned({ files, folder, isWindowAlive }: PurgeOptions): void {
  for (const name of listFolder(files, folder).names) {
    if (!name.startsWith('state-') || !name.endsWith(temporarySuffix)) continue;
    const owner = name.split('.').at(-2) ?? '';
    if (!isWindowAlive(owner)) files.remove(inFolder(folder, name));
  }
}

function asideFiles(files: FileLayer, folder: string): string[] {
  try {
    return files.list(inFolder(folder, asideFolderName)).map((name) => `${asideFolderName}/${name}`);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
