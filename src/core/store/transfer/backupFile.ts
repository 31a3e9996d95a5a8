/**
 * A backup: one file that holds one consistent state. Each line is `<crc32> <json>`, its CRC running on from the line before,
 * so that a line that is changed, missing, doubled or moved is noticed; the last line counts the others.
 */
import * as path from 'node:path';
import * as v from 'valibot';
import { noSpaceError, StoreError, systemErrorCode } from '../errors.ts';
import type { FileLayer } from '../fileLayer.ts';
import { crc32, formatCrc } from '../frame.ts';
import type { ReadTransaction } from '../transaction.ts';
import { readRecords, recordSchema, type ChatRecord } from './records.ts';

const formatVersion = 1;
const headSchema = v.object({
  type: v.literal('holdfast-backup'),
  version: v.number(),
  createdAt: v.number(),
});
const endSchema = v.object({ type: v.literal('end'), chats: v.number(), messages: v.number() });

/** Bytes read and written at a time. */
const pieceSize = 1 << 20;
const newline = 0x0a;

export interface BackupReport {
  readonly chats: number;
  readonly messages: number;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  /** A sentence for each row that could not be read and is not in the file. */
  readonly unreadable: readonly string[];
}

/** The file is no backup, or not a whole one. Nothing of it was used. */
class BackupDamagedError extends StoreError {
  constructor(file: string, detail: string, cause?: unknown) {
    super(
      'bad_backup',
      `${file} cannot be used as a backup of chats (${detail}). Nothing was changed. Use another backup.`,
      cause,
    );
  }
}

/** A file of that name is there, and is not replaced. */
class BackupExistsError extends StoreError {
  constructor(file: string) {
    super('exists', `${file} is there already and was not overwritten. Give another name.`);
  }
}

/** Writes the state to a new file (see writeRecords). Synchronous, so that no change comes in between. */
export function writeBackup(
  files: FileLayer,
  reader: ReadTransaction,
  file: string,
  createdAt: number,
): BackupReport {
  const unreadable: string[] = [];
  const records = readRecords(reader, (what) => unreadable.push(what));
  return { ...writeRecords(files, records, file, createdAt), unreadable };
}

/**
 * Writes a new file: beside it first, synced, read back, then named. Throws BackupExistsError, what node:fs throws (ENOSPC),
 * and BackupDamagedError if it reads back differently; nothing is left then.
 */
export function writeRecords(
  files: FileLayer,
  records: Iterable<ChatRecord>,
  file: string,
  createdAt: number,
): BackupFacts {
  if (files.statusOf(file) !== null) throw new BackupExistsError(file);
  const temporary = `${file}.${process.pid}.tmp`;
  files.remove(temporary);
  try {
    const descriptor = files.open(temporary, 'createNew');
    let facts: BackupFacts;
    try {
      facts = writeLines(files, descriptor, records, createdAt);
      files.syncNow(descriptor);
    } finally {
      files.close(descriptor);
    }
    checkBackup(files, temporary);
    // Whoever made a file of that name meanwhile keeps it.
    if (files.statusOf(file) !== null) throw new BackupExistsError(file);
    files.rename(temporary, file);
    files.syncFolderNow(path.dirname(file));
    return facts;
  } catch (error) {
    files.remove(temporary);
    throw error;
  }
}

function writeLines(
  files: FileLayer,
  descriptor: number,
  records: Iterable<ChatRecord>,
  createdAt: number,
): BackupFacts {
  const counts = { chats: 0, messages: 0 };
  let pending: Buffer[] = [];
  let size = 0;
  let crc = 0;
  const flush = (): void => {
    const bytes = Buffer.concat(pending);
    for (let done = 0; done < bytes.length;) {
      const count = files.append(descriptor, bytes.subarray(done));
      if (count === 0) throw noSpaceError('nothing was written');
      done += count;
    }
    pending = [];
    size = 0;
  };
  const add = (value: object): void => {
    const json = Buffer.from(JSON.stringify(value));
    crc = crc32(json, crc);
    pending.push(Buffer.from(`${formatCrc(crc)} `), json, Buffer.from('\n'));
    size += json.length + 10;
    if (size >= pieceSize) flush();
  };
  add({ type: 'holdfast-backup', version: formatVersion, createdAt });
  for (const record of records) {
    if (record.type === 'chat') counts.chats += 1;
    if (record.type === 'message') counts.messages += 1;
    add(record);
  }
  add({ type: 'end', ...counts });
  flush();
  return { ...counts, createdAt };
}

/** What a whole backup says of itself. */
type BackupFacts = Omit<BackupReport, 'unreadable'>;

/** Reads all of it. Throws BackupDamagedError, and what node:fs throws. */
export function checkBackup(files: FileLayer, file: string): BackupFacts {
  const reading = readBackup(files, file);
  for (;;) {
    const next = reading.next();
    if (next.done === true) return next.value;
  }
}

/**
 * The records of a backup, one at a time. Throws BackupDamagedError where the file stops being one: use checkBackup before
 * anything is done with the records. Returns when it was made and what it held.
 */
export function* readBackup(files: FileLayer, file: string): Generator<ChatRecord, BackupFacts> {
  let createdAt: number | null = null;
  let end: v.InferOutput<typeof endSchema> | null = null;
  const counts = { chats: 0, messages: 0 };
  for (const json of readLines(files, file)) {
    if (end !== null) throw new BackupDamagedError(file, 'something follows its end');
    if (createdAt === null) {
      createdAt = readHead(file, json);
      continue;
    }
    const parsed = v.safeParse(v.variant('type', [...recordSchema.options, endSchema]), json);
    if (!parsed.success)
      throw new BackupDamagedError(file, 'it has contents that this version does not know');
    const record = parsed.output;
    if (record.type === 'end') end = record;
    else {
      if (record.type === 'chat') counts.chats += 1;
      if (record.type === 'message') counts.messages += 1;
      yield record;
    }
  }
  if (createdAt === null) throw new BackupDamagedError(file, 'it is empty');
  if (end === null) throw new BackupDamagedError(file, 'its end is missing');
  if (end.chats !== counts.chats || end.messages !== counts.messages) {
    throw new BackupDamagedError(file, 'its contents are not complete');
  }
  return { ...counts, createdAt };
}

function readHead(file: string, json: unknown): number {
  const head = v.safeParse(headSchema, json);
  if (!head.success) throw new BackupDamagedError(file, 'it is no backup of Holdfast');
  if (head.output.version > formatVersion) {
    throw new BackupDamagedError(file, 'a newer version of Holdfast wrote it; use that one');
  }
  return head.output.createdAt;
}

function* readLines(files: FileLayer, file: string): Generator<unknown> {
  let crc = 0;
  let number = 0;
  for (const line of splitFile(files, file)) {
    number += 1;
    const json = line.subarray(9);
    crc = crc32(json, crc);
    if (line.subarray(0, 9).toString('latin1') !== `${formatCrc(crc)} `) {
      const isHead = number === 1;
      throw new BackupDamagedError(
        file,
        isHead ? 'it is no backup of Holdfast' : `line ${number} is damaged`,
      );
    }
    yield parseJson(file, number, json);
  }
}

function parseJson(file: string, number: number, json: Buffer): unknown {
  try {
    return JSON.parse(json.toString());
  } catch (error) {
    throw new BackupDamagedError(file, `line ${number} is damaged`, error);
  }
}

/** A last line without its newline is given as well: its CRC decides. */
function* splitFile(files: FileLayer, file: string): Generator<Buffer> {
  const descriptor = openFile(files, file);
  try {
    let pieces: Buffer[] = [];
    for (let position = 0; ;) {
      const buffer = Buffer.allocUnsafe(pieceSize);
      const count = files.read(descriptor, buffer, position);
      if (count === 0) break;
      position += count;
      let start = 0;
      for (;;) {
        const end = buffer.subarray(0, count).indexOf(newline, start);
        if (end === -1) break;
        yield Buffer.concat([...pieces, buffer.subarray(start, end)]);
        pieces = [];
        start = end + 1;
      }
      if (start < count) pieces.push(buffer.subarray(start, count));
    }
    if (pieces.length > 0) yield Buffer.concat(pieces);
  } finally {
    files.close(descriptor);
  }
}

function openFile(files: FileLayer, file: string): number {
  try {
    return files.open(file, 'read');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw new BackupDamagedError(file, code === 'ENOENT' ? 'there is no such file' : code, error);
  }
}
