/**
 * A file in the store's folder that only takes up room. When the disk is full and the window goes, it is given up, so that the
 * last words still fit; a window that finds it missing makes it again once there is room.
 */
import { randomBytes } from 'node:crypto';
import { isNoSpace, noSpaceError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, reserveName } from './folder.ts';

/** Bytes. */
export const reserveSize = 1 << 20;
/** Milliseconds between looks whether it is there. */
const lookEvery = 60_000;

export interface ReserveOptions {
  readonly files: FileLayer;
  readonly folder: string;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

export class Reserve {
  readonly #options: ReserveOptions;
  readonly #path: string;
  #nextLook = Number.NEGATIVE_INFINITY;

  constructor(options: ReserveOptions) {
    this.#options = options;
    this.#path = inFolder(options.folder, reserveName);
  }

  /** To be called often; now and then it looks whether the file is there, and makes it if there is room. */
  look(): void {
    const { files, clock, log } = this.#options;
    if (clock() < this.#nextLook) return;
    this.#nextLook = clock() + lookEvery;
    try {
      if ((files.statusOf(this.#path)?.size ?? 0) >= reserveSize) return;
      this.#make();
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') return; // another window makes it at this moment
      files.remove(this.#path);
      if (!isNoSpace(error)) log(`the reserve was not made: ${String(error)}`);
    }
  }

  /** Gives its room to what is written next. False: there is none to give. */
  giveUp(): boolean {
    const { files, log } = this.#options;
    if (files.statusOf(this.#path) === null) return false;
    files.remove(this.#path);
    log('the disk is full: the reserve was given up for the last words');
    return true;
  }

  /** Random bytes, because a file system may store zeros without taking up room for them. */
  #make(): void {
    const { files } = this.#options;
    files.remove(this.#path);
    const descriptor = files.open(this.#path, 'createNew');
    try {
      const bytes = randomBytes(reserveSize);
      if (files.append(descriptor, bytes) < bytes.length) throw noSpaceError('a short write');
    } finally {
      files.close(descriptor);
    }
  }
}
