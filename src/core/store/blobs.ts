/**
 * The blobs of one window: written before the frame that names them and durable by then, read when somebody asks for what a row
 * holds.
 */
import {
  createBlobFile,
  createBlobFileLater,
  encodeBlob,
  encodeBlobLater,
  readBlob,
  referenceOf,
  type BlobPlace,
} from './blobFile.ts';
import { toWriteError } from './errors.ts';
import { blobsFolderName, inFolder } from './folder.ts';

export interface BlobOptions extends BlobPlace {
  readonly windowId: string;
  /** Makes a ULID. */
  readonly makeId: () => string;
}

interface KeptBlob {
  readonly texts: readonly string[];
  readonly reference: string;
  readonly generation: number;
}

/** The blobs of one commit, whose function may run several times. */
export interface BlobKeeper {
  /**
   * Puts the texts into a file, durable when this returns, and gives the reference for the row. Throws a StoreError if the disk
   * refuses. `generation`: that of the journal the frame will stand in.
   */
  keep(texts: readonly string[], generation: number): string;
}

export class Blobs {
  readonly #options: BlobOptions;
  /** Of blob files that this window wrote since the generation began. */
  writtenBytes = 0;

  constructor(options: BlobOptions) {
    this.#options = options;
  }

  /** Throws BlobUnreadableError. */
  read(reference: string): string[] {
    return readBlob(this.#options, reference);
  }

  /**
   * After a lost race the same contents get the same blob: but only within a generation, because what a frame that lost named
   * may be removed together with that frame's journal.
   */
  keeper(): BlobKeeper {
    const kept: KeptBlob[] = [];
    return {
      keep: (texts, generation) => {
        const known = kept.find((blob) => blob.generation === generation && isSame(blob.texts, texts));
        if (known !== undefined) return known.reference;
        const reference = this.#write(texts);
        kept.push({ texts, reference, generation });
        return reference;
      },
    };
  }

  /**
   * Puts the texts into a file off this thread, and gives the reference. The name is durable after syncNames only, and may be
   * written into rows in the generation only in which this was begun. Rejects with StoreErrors.
   */
  async writeLater(texts: readonly string[]): Promise<string> {
    const { folder, windowId, makeId } = this.#options;
    const name = makeId();
    const bytes = await encodeBlobLater(texts, windowId);
    try {
      await createBlobFileLater(this.#options, name, bytes);
    } catch (error) {
      throw toWriteError(folder, error);
    }
    this.writtenBytes += bytes.length;
    return referenceOf(name, bytes);
  }

  async syncNames(): Promise<void> {
    const { files, folder } = this.#options;
    await files.syncFolder(inFolder(folder, blobsFolderName));
  }

  #write(texts: readonly string[]): string {
    const { files, folder, windowId, makeId } = this.#options;
    const name = makeId();
    const bytes = encodeBlob(texts, windowId);
    try {
      createBlobFile(this.#options, name, bytes);
      files.syncFolderNow(inFolder(folder, blobsFolderName));
    } catch (error) {
      throw toWriteError(folder, error);
    }
    this.writtenBytes += bytes.length;
    return referenceOf(name, bytes);
  }
}

function isSame(texts: readonly string[], others: readonly string[]): boolean {
  return texts.length === others.length && texts.every((text, index) => text === others[index]);
}
