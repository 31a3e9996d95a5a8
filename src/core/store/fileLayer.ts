/**
 * The few file operations the store needs, as an interface, so that tests can cut the power and fill the disk. Everything on
 * the commit path is synchronous (a commit must not be interleaved with another of the same process); syncs are not, they
 * wait for the disk.
 */
import * as fs from 'node:fs';

export interface FileStatus {
  /** Bytes. */
  readonly size: number;
  /** Names the file has; 0 once it was deleted under an open descriptor. */
  readonly links: number;
  /** Unix time in milliseconds. */
  readonly modifiedAt: number;
}

/** How a file is opened: `append` neither creates nor truncates; `create` makes it first (an existing one is kept). */
export type OpenMode = 'read' | 'append' | 'create' | 'createNew';

/** Errors are those of node:fs, with their `code`. Descriptors are small numbers. */
export interface FileLayer {
  open(path: string, mode: OpenMode): number;
  close(descriptor: number): void;
  /** Bytes read; fewer than asked for at the end of the file. */
  read(descriptor: number, target: Uint8Array, position: number): number;
  /** Appends with one write call. Returns the bytes written: possibly fewer, and then not to be continued. */
  append(descriptor: number, bytes: Uint8Array): number;
  status(descriptor: number): FileStatus;
  statusOf(path: string): FileStatus | null;
  /** Makes the contents of a file durable, and of every other writer of it. */
  sync(descriptor: number): Promise<void>;
  syncNow(descriptor: number): void;
  /** Makes names durable: what was created, renamed and deleted in the folder. */
  syncFolder(path: string): Promise<void>;
  syncFolderNow(path: string): void;
  list(path: string): string[];
  makeFolder(path: string): void;
  readFile(path: string): Uint8Array;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Sets the time of the last change to now: the heartbeat of presence files. */
  touch(path: string): void;
}

const modes: Readonly<Record<OpenMode, number>> = {
  read: fs.constants.O_RDONLY,
  append: fs.constants.O_RDWR | fs.constants.O_APPEND,
  create: fs.constants.O_RDWR | fs.constants.O_APPEND | fs.constants.O_CREAT,
  createNew: fs.constants.O_RDWR | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_EXCL,
};

/** Windows has no way to sync a folder: NTFS journals names itself. */
const canSyncFolders = process.platform !== 'win32';

function toStatus(stats: fs.Stats): FileStatus {
  return { size: stats.size, links: stats.nlink, modifiedAt: stats.mtimeMs };
}

export const nodeFiles: FileLayer = {
  open: (path, mode) => fs.openSync(path, modes[mode], 0o600),
  close: (descriptor) => fs.closeSync(descriptor),
  read(descriptor, target, position) {
    let done = 0;
    while (done < target.length) {
      const count = fs.readSync(descriptor, target, done, target.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  },
  append: (descriptor, bytes) => fs.writeSync(descriptor, bytes),
  status: (descriptor) => toStatus(fs.fstatSync(descriptor)),
  statusOf(path) {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? null : toStatus(stats);
  },
  sync: (descriptor) =>
    new Promise((resolve, reject) => {
      fs.fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
    }),
  syncNow: (descriptor) => fs.fdatasyncSync(descriptor),
  async syncFolder(path) {
    if (!canSyncFolders) return;
    const handle = await fs.promises.open(path, fs.constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  syncFolderNow(path) {
    if (!canSyncFolders) return;
    const descriptor = fs.openSync(path, fs.constants.O_RDONLY);
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  },
  list: (path) => fs.readdirSync(path),
  makeFolder: (path) => void fs.mkdirSync(path, { recursive: true, mode: 0o700 }),
  readFile: (path) => fs.readFileSync(path),
  rename: (from, to) => fs.renameSync(from, to),
  remove: (path) => fs.rmSync(path, { force: true }),
  touch(path) {
    const now = new Date();
    fs.utimesSync(path, now, now);
  },
};
