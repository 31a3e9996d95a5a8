/** Moving damaged files aside: they are never deleted, whatever else happens. */
import { systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { asideFolderName, inFolder } from './folder.ts';

/** `stamp`: makes the new name unique. A file that is gone, or that the system does not let go of, stays where it is. */
export function moveAside(files: FileLayer, folder: string, names: readonly string[], stamp: string): void {
  if (names.length === 0) return;
  const aside = inFolder(folder, asideFolderName);
  files.makeFolder(aside);
  for (const name of names) {
    try {
      files.rename(inFolder(folder, name), inFolder(aside, `${stamp}-${name}`));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code !== 'ENOENT' && code !== 'EPERM' && code !== 'EBUSY' && code !== 'EACCES') throw error;
    }
  }
  files.syncFolderNow(aside);
  files.syncFolderNow(folder);
}
