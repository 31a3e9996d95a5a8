/** What a store is made of; everything a test would want to replace is given from outside. */
import type { CheckpointRunner } from './checkpointRunner.ts';
import type { FileLayer } from './fileLayer.ts';
import type { ProcessProbe } from './processProbe.ts';

export interface StoreOptions {
  /** Shared by every window. Made if it is not there (mode 0700). */
  readonly folder: string;
  /** `sql-wasm.wasm` of sql.js: its bytes, or where it lies. */
  readonly wasm: Uint8Array | string;
  /** The built checkpointWorker.ts; null: this window makes no snapshots (others may). */
  readonly checkpointWorkerFile: string | null;
  /** Names this window in leases and presence. Unique for every start of a window. */
  readonly windowId: string;
  /** Nothing in the folder is made or written, not even that this window is there. Absent: it is where that is allowed. */
  readonly access?: 'read';
  /** Unix time in milliseconds. */
  readonly now?: () => number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** Makes a ULID. */
  readonly makeId?: () => string;
  readonly files?: FileLayer;
  readonly log?: (line: string) => void;
  /** Told when the files were lost under this window and it made them again from what it holds: a sentence for the user. */
  readonly onHealed?: (what: string) => void;
  /** Told when the folder, which could only be read before, can be written to. */
  readonly onWritable?: () => void;
  /** How often the journal is looked at for other windows' changes, in milliseconds; 0: only when asked. */
  readonly followInterval?: number;
  /** How long after the last sync the mark is written, in milliseconds. */
  readonly markDelay?: number;
  /** Bytes of journal after which a generation ends, unless a tenth of the snapshot is more. */
  readonly journalLimit?: number;
  /** How often the tidy looks for large contents to move into blobs, in milliseconds. */
  readonly tidyInterval?: number;
  /** How long a live window may take to repair what this one cannot read, in milliseconds. */
  readonly patience?: number;
  /** Who this process is and whether others run. */
  readonly probe?: ProcessProbe;
  /** Makes snapshots; instead of the worker thread of `checkpointWorkerFile`. */
  readonly runCheckpoint?: CheckpointRunner;
}

export const defaultJournalLimit = 4 << 20;
export const defaultPatience = 10_000;
export const defaultMarkDelay = 1000;
export const defaultTidyInterval = 30_000;
/** Milliseconds between looks at the journal. */
export const focusedFollowInterval = 100;
export const unfocusedFollowInterval = 1000;
