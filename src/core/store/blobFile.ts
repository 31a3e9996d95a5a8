/**
 * A blob file: large contents, compressed, never changed. The first line names the format and the window that made the file; a
 * blob that no row ever named is removed only once that window is dead.
 *
 * A row names a blob by its reference: the file's name, which is a ULID and never used again, and the hash of its bytes.
 */
import * as crypto from 'node:crypto';
import * as zlib from 'node:zlib';
import { StoreError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { blobsFolderName, inFolder } from './folder.ts';
import type { ReadTransaction, RowReader } from './transaction.ts';

/** The file that a reference names is missing, damaged or not to be read. One row is unreadable; the rest is as it was. */
export class BlobUnreadableError extends StoreError {
  constructor(name: string, detail: string, cause?: unknown) {
    super('unreadable', `its file ${blobsFolderName}/${name} ${detail}`, cause);
  }
}

/** Where blob files are. */
export interface BlobPlace {
  readonly files: FileLayer;
  /** The store's. */
  readonly folder: string;
}

export interface NamedBlob {
  readonly name: string;
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
}

const namePattern = /^[0-9A-Z]{26}$/;
const referencePattern = /^([0-9A-Z]{26}) ([A-Za-z0-9_-]{43})$/;
const headPattern = /^holdfast-blob (\d+) ([^\n]{1,200})\n/;
const formatVersion = 1;
const longestHead = 256;
const newline = 0x0a;
/** Bytes per write call. */
const pieceSize = 1 << 22;
/** Text compresses well and fast with this; a write waits for it. */
const quickly = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };
/** For what nobody waits for. */
const thoroughly = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Null: the text is no reference. */
export function parseReference(reference: string): NamedBlob | null {
  const match = referencePattern.exec(reference);
  return match === null ? null : { name: match[1] ?? '', hash: match[2] ?? '' };
}

/** The bytes of a blob file that holds these texts; compresses on this thread. */
export function encodeBlob(texts: readonly string[], windowId: string): Buffer {
  return withHead(windowId, zlib.brotliCompressSync(joinTexts(texts), quickly));
}

/** As encodeBlob, compressing better and on another thread. */
export function encodeBlobLater(texts: readonly string[], windowId: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zlib.brotliCompress(joinTexts(texts), thoroughly, (error, compressed) => {
      if (error === null) resolve(withHead(windowId, compressed));
      else reject(error);
    });
  });
}

function withHead(windowId: string, compressed: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`holdfast-blob ${formatVersion} ${windowId}\n`), compressed]);
}

/** The reference by which rows name these bytes under this name. */
export function referenceOf(name: string, bytes: Uint8Array): string {
  return `${name} ${hashOf(bytes)}`;
}

function hashOf(bytes: Uint8Array): string {
  return crypto.createHash('sha256').update(bytes).digest('base64url');
}

/**
 * Writes a new file, its contents durable when this returns; its name is once the folder is synced. Throws what node:fs throws, and
 * nothing is left then.
 */
export function createBlobFile(place: BlobPlace, name: string, bytes: Uint8Array): void {
  const { files, folder } = place;
  const descriptor = writeBlobFile(place, name, bytes);
  try {
    files.syncNow(descriptor);
  } catch (error) {
    files.remove(blobPath(folder, name));
    throw error;
  } finally {
    files.close(descriptor);
  }
}

/** As createBlobFile; waits for the disk on another thread. */
export async function createBlobFileLater(place: BlobPlace, name: string, bytes: Uint8Array): Promise<void> {
  const { files, folder } = place;
  const descriptor = writeBlobFile(place, name, bytes);
  try {
    await files.sync(descriptor);
  } catch (error) {
    files.remove(blobPath(folder, name));
    throw error;
  } finally {
    files.close(descriptor);
  }
}

function writeBlobFile({ files, folder }: BlobPlace, name: string, bytes: Uint8Array): number {
  const path = blobPath(folder, name);
  const descriptor = openNew(files, folder, path);
  try {
    for (let done = 0; done < bytes.length;) {
      done += files.append(descriptor, bytes.subarray(done, done + pieceSize));
    }
    return descriptor;
  } catch (error) {
    files.close(descriptor);
    files.remove(path);
    throw error;
  }
}

/** The folder of blobs is made with the first of them, and again if somebody deleted it. */
function openNew(files: FileLayer, folder: string, path: string): number {
  try {
    return files.open(path, 'createNew');
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    files.makeFolder(inFolder(folder, blobsFolderName));
    files.syncFolderNow(folder);
    return files.open(path, 'createNew');
  }
}

/** The texts of a blob. Throws BlobUnreadableError. */
export function readBlob({ files, folder }: BlobPlace, reference: string): string[] {
  const blob = parseReference(reference);
  if (blob === null) throw new BlobUnreadableError(reference, 'cannot be there: that is no name of a file');
  const bytes = readBytes(files, folder, blob.name);
  if (hashOf(bytes) !== blob.hash) throw new BlobUnreadableError(blob.name, 'is damaged');
  const head = readHead(bytes);
  if (head?.version !== formatVersion) {
    throw new BlobUnreadableError(blob.name, 'is of a newer version of Holdfast');
  }
  return splitTexts(zlib.brotliDecompressSync(bytes.subarray(head.length)));
}

/** The window that made the file. Null: it is gone, or not whole enough to tell. */
export function ownerOfBlob({ files, folder }: BlobPlace, name: string): string | null {
  try {
    return readHead(readBytes(files, folder, name))?.windowId ?? null;
  } catch (error) {
    if (error instanceof BlobUnreadableError) return null;
    throw error;
  }
}

/** Reads the rows of a state outside of a store, and what they keep in the blobs of a folder. */
export function readerOf(rows: RowReader, place: BlobPlace): ReadTransaction {
  return {
    all: (sql, parameters) => rows.all(sql, parameters),
    get: (sql, parameters) => rows.get(sql, parameters),
    readBlob: (reference) => readBlob(place, reference),
  };
}

function readBytes(files: FileLayer, folder: string, name: string): Uint8Array {
  try {
    return files.readFile(blobPath(folder, name));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw new BlobUnreadableError(name, code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`, error);
  }
}

function readHead(bytes: Uint8Array): { version: number; windowId: string; length: number } | null {
  const match = headPattern.exec(Buffer.from(bytes.subarray(0, longestHead)).toString('latin1'));
  if (match === null) return null;
  return { version: Number(match[1]), windowId: match[2] ?? '', length: match[0].length };
}

/** Names of the blob files; none if there is no folder of them. Throws what node:fs throws. */
export function listBlobs({ files, folder }: BlobPlace): string[] {
  try {
    return files.list(inFolder(folder, blobsFolderName)).filter((name) => namePattern.test(name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

export function blobPath(folder: string, name: string): string {
  return inFolder(inFolder(folder, blobsFolderName), name);
}

/** Their lengths in bytes on the first line, then one behind the other: no text is escaped, however large. */
function joinTexts(texts: readonly string[]): Buffer {
  const pieces = texts.map((text) => Buffer.from(text));
  return Buffer.concat([Buffer.from(`${pieces.map(({ length }) => length).join(' ')}\n`), ...pieces]);
}

function splitTexts(bytes: Buffer): string[] {
  let position = bytes.indexOf(newline);
  const lengths = bytes.toString('latin1', 0, position).split(' ').map(Number);
  position += 1;
  return lengths.map((length) => {
    const text = bytes.toString('utf8', position, position + length);
    position += length;
    return text;
  });
}
