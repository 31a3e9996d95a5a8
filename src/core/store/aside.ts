/** Moving damaged files aside: they are never deleted, whatever else happens. */
import * as path from 'node:path';
import { isHeldOpen, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { asideFolderName, inFolder, journalName } from './folder.ts';

/** `names`: relative to the folder. `stamp`: makes the new name unique. A file that is gone, or that the system does not let go of, stays where it is. */
export function moveAside(files: FileLayer, folder: string, names: readonly string[], stamp: string): void {
  if (names.length === 0) return;
  const aside = inFolder(folder, asideFolderName);
  files.makeFolder(aside);
  for (const name of names) {
    try {
      files.rename(inFolder(folder, name), inFolder(aside, `${stamp}-${path.basename(name)}`));
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT' && !isHeldOpen(error)) throw error;
    }
  }
  files.syncFolderNow(aside);
  files.syncFolderNow(folder);
}

export interface ReplacedJournal {
  readonly files: FileLayer;
  readonly folder: string;
  readonly generation: number;
  readonly stamp: string;
  readonly log: (line: string) => void;
}

/**
 * For a journal that cannot be trusted and whose changes a window saved from memory, once that snapshot is verified and
 * durable. Windows that have the file open go on reading it to its seal. Left where it is it does no harm but to be told of by
 * `verify`, so a failure is only logged.
 */
export function moveReplacedAside({ files, folder, generation, stamp, log }: ReplacedJournal): void {
  const name = journalName(generation);
  try {
    if (files.statusOf(inFolder(folder, name)) !== null) moveAside(files, folder, [name], stamp);
  } catch (error) {
    log(`${name} was not moved aside: ${String(error)}`);
  }
}
