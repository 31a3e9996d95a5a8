/** The real file layer, in which chosen operations fail with a code of the system until they are let go again. */
import { nodeFiles, type FileLayer } from '../../../../src/core/store/fileLayer.ts';

export type Operation = 'append' | 'sync' | 'openToWrite';

export class FaultyFiles {
  readonly #codes = new Map<Operation, string>();
  /** How many bytes of the next append are written before it fails; null: none, and no append is cut. */
  #cut: number | null = null;

  fail(operation: Operation, code: string): void {
    this.#codes.set(operation, code);
  }

  /** The next append writes only its first bytes: the disk became full in the middle. */
  cutNextAppend(bytes: number): void {
    this.#cut = bytes;
  }

  heal(): void {
    this.#codes.clear();
    this.#cut = null;
  }

  readonly layer: FileLayer = {
    ...nodeFiles,
    open: (path, mode) => {
      if (mode !== 'read') this.#check('openToWrite');
      return nodeFiles.open(path, mode);
    },
    append: (descriptor, bytes) => {
      this.#check('append');
      if (this.#cut === null) return nodeFiles.append(descriptor, bytes);
      const part = bytes.subarray(0, this.#cut);
      this.#cut = null;
      this.fail('append', 'ENOSPC');
      return nodeFiles.append(descriptor, part);
    },
    sync: async (descriptor) => {
      this.#check('sync');
      await nodeFiles.sync(descriptor);
    },
    syncNow: (descriptor) => {
      this.#check('sync');
      nodeFiles.syncNow(descriptor);
    },
  };

  #check(operation: Operation): void {
    const code = this.#codes.get(operation);
    if (code !== undefined) throw Object.assign(new Error(`${code}: injected`), { code });
  }
}
