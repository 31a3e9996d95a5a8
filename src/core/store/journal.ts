/** One journal file: appended to by every window, read by each at its own pace. */
import { StoreClosedError } from './errors.ts';
import type { FileLayer, FileStatus } from './fileLayer.ts';
import { inFolder, journalName } from './folder.ts';

export type JournalAccess = 'read' | 'append' | 'create' | 'createNew';

/** A buffer that grew beyond this is not kept for the next read (bytes). */
const keptBuffer = 1 << 20;

export class Journal {
  readonly generation: number;
  readonly path: string;
  readonly access: JournalAccess;
  /** Offset up to which every line has been judged. */
  position = 0;
  /** Bytes it had at the last look. */
  #size = 0;
  readonly #files: FileLayer;
  readonly #descriptor: number;
  #buffer = Buffer.alloc(64 * 1024);
  #isClosed = false;

  /**
   * Opens the file; only `create` makes it. Throws what node:fs throws: ENOENT means that this window slept through a
   * generation.
   */
  constructor(files: FileLayer, folder: string, generation: number, access: JournalAccess) {
    this.#files = files;
    this.generation = generation;
    this.access = access;
    this.path = inFolder(folder, journalName(generation));
    this.#descriptor = files.open(this.path, access);
  }

  /**
   * Of the open file. Throws StoreClosedError once it is closed: its number may be another file's by then, and whoever was
   * still waiting for something when the store was closed would write there.
   */
  get descriptor(): number {
    if (this.#isClosed) throw new StoreClosedError();
    return this.#descriptor;
  }

  status(): FileStatus {
    const status = this.#files.status(this.descriptor);
    this.#size = status.size;
    return status;
  }

  /** Whether every line that was there at the last look has been judged. */
  get isReadToEnd(): boolean {
    return this.#size === this.position;
  }

  /**
   * The bytes from `position` to `end`, an offset in the file; absent: to its end. Valid until the next call.
   */
  readNew(end = this.status().size): Buffer {
    const length = end - this.position;
    if (length <= 0) return Buffer.alloc(0);
    const target = this.#reserve(length);
    const count = this.#files.read(this.descriptor, target, this.position);
    return target.subarray(0, count);
  }

  /** Appends with one write call and gives the bytes that were written. */
  append(bytes: Uint8Array): number {
    return this.#files.append(this.descriptor, bytes);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#files.close(this.#descriptor);
  }

  #reserve(length: number): Buffer {
    if (length <= this.#buffer.length) return this.#buffer.subarray(0, length);
    const larger = Buffer.allocUnsafeSlow(length);
    if (length <= keptBuffer) this.#buffer = larger;
    return larger;
  }
}
