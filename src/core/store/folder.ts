/** The names in the store's folder, and what they say. */
import * as path from 'node:path';
import type { FileLayer } from './fileLayer.ts';
import { formatCrc } from './frame.ts';

export interface SnapshotName {
  readonly name: string;
  /** The generation that starts with it. */
  readonly generation: number;
  /** Number of the seal it was made at. */
  readonly seq: number;
  /** CRC-32 of the file. */
  readonly crc: number;
}

export interface FolderListing {
  /** Newest first. */
  readonly snapshots: readonly SnapshotName[];
  /** Generations of the journals, oldest first. */
  readonly journals: readonly number[];
  readonly names: ReadonlySet<string>;
}

const snapshotPattern = /^state-(\d{1,15})-(\d{1,15})-([0-9a-f]{8})\.db$/;
const journalPattern = /^journal-(\d{1,15})\.log$/;

export const markName = 'mark';
export const windowsFolderName = 'windows';
/** Large contents, one file each (see blobFile.ts). */
export const blobsFolderName = 'blobs';
/** Damaged files are moved here, never deleted. */
export const asideFolderName = 'damaged';
export const repairLockName = 'repair.lock';
export const reserveName = 'reserve';

export function journalName(generation: number): string {
  return `journal-${generation}.log`;
}

export function snapshotName(generation: number, seq: number, crc: number): string {
  return `state-${generation}-${seq}-${formatCrc(crc)}.db`;
}

function parseSnapshotName(name: string): SnapshotName | null {
  const match = snapshotPattern.exec(name);
  if (match === null) return null;
  const [, generation, seq, crc = ''] = match;
  return { name, generation: Number(generation), seq: Number(seq), crc: Number.parseInt(crc, 16) };
}

export function listFolder(files: FileLayer, folder: string): FolderListing {
  const names = files.list(folder);
  const snapshots = names.flatMap((name) => parseSnapshotName(name) ?? []);
  const journals = names.flatMap((name) => {
    const match = journalPattern.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
  return {
    snapshots: snapshots.sort(
      (first, second) => second.generation - first.generation || (first.name < second.name ? -1 : 1),
    ),
    journals: journals.sort((first, second) => first - second),
    names: new Set(names),
  };
}

export function inFolder(folder: string, name: string): string {
  return path.join(folder, name);
}
