/**
 * A disk in memory that forgets what was not synced. A power cut keeps any subset of the unsynced 512-byte sectors and of the
 * unsynced names; each writer has a handle of its own that can die in the middle.
 */
import * as path from 'node:path';
import type { FileLayer, FileStatus, OpenMode } from '../../../src/core/store/fileLayer.ts';
import type { Random } from './random.ts';

const sector = 512;

interface Inode {
  data: Buffer;
  size: number;
  /** What a power cut cannot take. */
  synced: Buffer;
  links: number;
  modifiedAt: number;
}

function systemError(code: string, file: string): Error {
  return Object.assign(new Error(`${code}: ${file}`), { code });
}

interface PendingSync {
  readonly complete: () => void;
}

export class MemoryDisk {
  readonly #names = new Map<string, Inode>();
  readonly #syncedNames = new Map<string, Inode>();
  #pending: PendingSync[] = [];
  /** Called before each operation that changes something. */
  onOperation: (() => void) | null = null;
  now = 1;

  static from(files: ReadonlyMap<string, Buffer>): MemoryDisk {
    const disk = new MemoryDisk();
    for (const [name, bytes] of files) {
      const inode = {
        data: Buffer.from(bytes),
        size: bytes.length,
        synced: Buffer.from(bytes),
        links: 1,
        modifiedAt: 1,
      };
      disk.#names.set(name, inode);
      disk.#syncedNames.set(name, inode);
    }
    return disk;
  }

  get pendingSyncs(): number {
    return this.#pending.length;
  }

  /** Lets one of the syncs that wait come to its end. */
  completeSync(index: number): void {
    const [pending] = this.#pending.splice(index, 1);
    pending?.complete();
  }

  /** Every file as it is now: what the processes see, not what a power cut leaves. */
  contents(): Map<string, Buffer> {
    return new Map(
      [...this.#names].map(([name, inode]) => [name, Buffer.from(inode.data.subarray(0, inode.size))]),
    );
  }

  /** One bit of a file changes by itself, under everybody. */
  flip(name: string, bit: number): void {
    const inode = this.#names.get(name);
    if (inode === undefined) throw systemError('ENOENT', name);
    for (const bytes of [inode.data, inode.synced]) {
      const index = bit >> 3;
      if (index < bytes.length) bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit & 7));
    }
  }

  /** What is left after a power cut at this moment. */
  afterPowerCut(random: Random): MemoryDisk {
    const kept = random.pick([0, 0.3, 0.7, 1]);
    const names = new Map<string, Inode>();
    for (const name of new Set([...this.#names.keys(), ...this.#syncedNames.keys()])) {
      const now = this.#names.get(name);
      const before = this.#syncedNames.get(name);
      const inode = now === before || random.chance(kept) ? now : before;
      if (inode !== undefined) names.set(name, inode);
    }
    const images = new Map<Inode, Buffer>();
    const files = new Map<string, Buffer>();
    for (const [name, inode] of names) {
      const image = images.get(inode) ?? cutInode(inode, random, kept);
      images.set(inode, image);
      files.set(name, image);
    }
    return MemoryDisk.from(files);
  }

  handle(): MemoryHandle {
    return new MemoryHandle(this);
  }

  /** The operations of node:fs as the handles need them. */
  readonly operations = {
    find: (file: string): Inode | undefined => this.#names.get(file),
    changed: (): void => this.onOperation?.(),
    create: (file: string): Inode => {
      this.onOperation?.();
      const inode = {
        data: Buffer.alloc(1024),
        size: 0,
        synced: Buffer.alloc(0),
        links: 1,
        modifiedAt: this.now,
      };
      this.#names.set(file, inode);
      return inode;
    },
    append: (inode: Inode, bytes: Uint8Array): void => {
      this.onOperation?.();
      const size = inode.size + bytes.length;
      if (size > inode.data.length) {
        const larger = Buffer.alloc(Math.max(size, inode.data.length * 2));
        inode.data.copy(larger, 0, 0, inode.size);
        inode.data = larger;
      }
      inode.data.set(bytes, inode.size);
      inode.size = size;
      inode.modifiedAt = this.now;
    },
    sync: (inode: Inode): void => {
      this.onOperation?.();
      inode.synced = Buffer.from(inode.data.subarray(0, inode.size));
    },
    syncLater: (inode: Inode): Promise<void> => {
      const { size } = inode;
      return new Promise((resolve) => {
        const complete = (): void => {
          this.onOperation?.();
          if (inode.synced.length < size) inode.synced = Buffer.from(inode.data.subarray(0, size));
          resolve();
        };
        this.#pending.push({ complete });
      });
    },
    syncFolder: (folder: string): void => {
      this.onOperation?.();
      for (const name of new Set([...this.#names.keys(), ...this.#syncedNames.keys()])) {
        if (path.dirname(name) !== folder) continue;
        const inode = this.#names.get(name);
        if (inode === undefined) this.#syncedNames.delete(name);
        else this.#syncedNames.set(name, inode);
      }
    },
    list: (folder: string): string[] =>
      [...this.#names.keys()]
        .filter((name) => path.dirname(name) === folder)
        .map((name) => path.basename(name)),
    rename: (from: string, to: string): void => {
      this.onOperation?.();
      const inode = this.#names.get(from);
      if (inode === undefined) throw systemError('ENOENT', from);
      const replaced = this.#names.get(to);
      if (replaced !== undefined) replaced.links = 0;
      this.#names.delete(from);
      this.#names.set(to, inode);
    },
    remove: (file: string): void => {
      const inode = this.#names.get(file);
      if (inode === undefined) return;
      this.onOperation?.();
      inode.links = 0;
      this.#names.delete(file);
    },
  };
}

function cutInode(inode: Inode, random: Random, kept: number): Buffer {
  const unsynced = inode.size - inode.synced.length;
  // The length is lost or not, or the file ends in between.
  const size = random.chance(kept) ? inode.size : inode.synced.length + random.below(unsynced + 1);
  const image = Buffer.alloc(size);
  inode.synced.copy(image);
  for (let start = 0; start < size; start += sector) {
    const end = Math.min(start + sector, size);
    if (end <= inode.synced.length) continue;
    if (random.chance(kept)) inode.data.copy(image, start, start, end);
  }
  return image;
}

/** The file layer of one writer. Once dead, nothing it does reaches the disk. */
export class MemoryHandle implements FileLayer {
  readonly #disk: MemoryDisk;
  readonly #open = new Map<number, Inode>();
  #next = 3;
  isDead = false;
  /** Called before each append, to let another writer in between. */
  beforeAppend: (() => void) | null = null;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  open(file: string, mode: OpenMode): number {
    const { operations } = this.#disk;
    let inode = operations.find(file);
    if (inode !== undefined && mode === 'createNew') throw systemError('EEXIST', file);
    if (inode === undefined) {
      if (mode === 'read' || mode === 'append' || this.isDead) throw systemError('ENOENT', file);
      inode = operations.create(file);
    }
    this.#next += 1;
    this.#open.set(this.#next, inode);
    return this.#next;
  }

  close(descriptor: number): void {
    if (!this.#open.delete(descriptor)) throw systemError('EBADF', String(descriptor));
  }

  read(descriptor: number, target: Uint8Array, position: number): number {
    const inode = this.#inode(descriptor);
    const bytes = inode.data.subarray(position, Math.min(inode.size, position + target.length));
    target.set(bytes);
    return bytes.length;
  }

  append(descriptor: number, bytes: Uint8Array): number {
    const inode = this.#inode(descriptor);
    if (this.isDead) return bytes.length;
    this.beforeAppend?.();
    this.#disk.operations.append(inode, bytes);
    return bytes.length;
  }

  status(descriptor: number): FileStatus {
    const { size, links, modifiedAt } = this.#inode(descriptor);
    return { size, links, modifiedAt };
  }

  statusOf(file: string): FileStatus | null {
    const inode = this.#disk.operations.find(file);
    return inode === undefined
      ? null
      : { size: inode.size, links: inode.links, modifiedAt: inode.modifiedAt };
  }

  sync(descriptor: number): Promise<void> {
    const inode = this.#inode(descriptor);
    return this.isDead ? Promise.resolve() : this.#disk.operations.syncLater(inode);
  }

  syncNow(descriptor: number): void {
    const inode = this.#inode(descriptor);
    if (!this.isDead) this.#disk.operations.sync(inode);
  }

  syncFolder(folder: string): Promise<void> {
    this.syncFolderNow(folder);
    return Promise.resolve();
  }

  syncFolderNow(folder: string): void {
    if (!this.isDead) this.#disk.operations.syncFolder(folder);
  }

  list(folder: string): string[] {
    return this.#disk.operations.list(folder);
  }

  makeFolder(): void {
    // Folders are there as soon as something is in them.
  }

  readFile(file: string): Uint8Array {
    const inode = this.#disk.operations.find(file);
    if (inode === undefined) throw systemError('ENOENT', file);
    return Buffer.from(inode.data.subarray(0, inode.size));
  }

  rename(from: string, to: string): void {
    if (!this.isDead) this.#disk.operations.rename(from, to);
  }

  remove(file: string): void {
    if (!this.isDead) this.#disk.operations.remove(file);
  }

  touch(): void {
    // Presence is not what is tested here.
  }

  #inode(descriptor: number): Inode {
    const inode = this.#open.get(descriptor);
    if (inode === undefined) throw systemError('EBADF', String(descriptor));
    return inode;
  }
}
