/**
 * One frame of the journal: `\n<crc32> <seq> <prev> <durable> <txn> <json>\n`, the CRC over everything behind it up to the
 * closing newline. JSON escapes newlines, so a line is never cut by its own contents and the leading newline lets a reader
 * go on behind a torn write.
 */
import * as zlib from 'node:zlib';
import * as v from 'valibot';
import type { Value } from './transaction.ts';

/** One statement and its parameters, as every window runs it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly Value[];
}

/**
 * `seal` ends a generation: nothing behind it counts in that file. `window` is who makes the snapshot; if it dies, any other
 * does.
 */
export type Payload =
  | { readonly type: 'statements'; readonly statements: readonly Statement[] }
  | { readonly type: 'seal'; readonly window: string };

export interface FrameHeader {
  /** Number of the frame in its store, from 1. */
  readonly seq: number;
  /** CRC of the frame it was written after. */
  readonly previous: number;
  /** The highest `seq` its writer knew to be fdatasynced. */
  readonly durable: number;
  /** ULID of the transaction, kept across retries. */
  readonly transaction: string;
}

export interface Frame extends FrameHeader {
  readonly crc: number;
  /** The JSON as bytes; parsed only if the frame counts. */
  readonly json: Uint8Array;
}

const newline = 0x0a;
const space = 0x20;
const longestHeader = 8 + 1 + 16 + 1 + 8 + 1 + 16 + 1 + 26 + 1;
const headerPattern = /^([0-9a-f]{8}) (\d{1,15}) ([0-9a-f]{8}) (\d{1,15}) ([0-9A-Z]{26}) /;

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function tableCrc32(bytes: Uint8Array, start = 0): number {
  let crc = ~start >>> 0;
  for (const byte of bytes) crc = ((crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)) >>> 0;
  return ~crc >>> 0;
}

/** CRC-32 as in zip files. Node has it since 20.15; the extension hosts of older editors do not. */
export const crc32: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === 'function' ? zlib.crc32 : tableCrc32;

/** For tests: both implementations must agree. */
export const portableCrc32 = tableCrc32;

export function formatCrc(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/**
 * The payload as JSON: `{"seal":window}`, or a list of `[sql, parameters]` in which a statement repeated within the frame is the
 * index of its first use.
 */
export function encodePayload(payload: Payload): string {
  if (payload.type === 'seal') return JSON.stringify({ seal: payload.window });
  const known = new Map<string, number>();
  const items = payload.statements.map(({ sql, parameters }, index) => {
    const first = known.get(sql);
    if (first === undefined) known.set(sql, index);
    return [first ?? sql, parameters];
  });
  return JSON.stringify(items);
}

/** Bytes that values take in a frame. */
export function jsonBytes(values: readonly Value[]): number {
  return Buffer.byteLength(JSON.stringify(values));
}

/** The most bytes that a UTF-16 unit takes in a frame: those of a control character, which is escaped. */
const mostPerUnit = 6;
/** The same for what is no text, and for what stands around a value. */
const mostPerValue = 32;

/** Whether values take no more than so many bytes in a frame. Only what could be too large is measured. */
export function fitsInFrame(values: readonly Value[], bytes: number): boolean {
  let most = mostPerValue;
  for (const value of values)
    most += mostPerValue + (typeof value === 'string' ? value.length * mostPerUnit : 0);
  return most <= bytes || jsonBytes(values) <= bytes;
}

const payloadSchema = v.union([
  v.object({ seal: v.string() }),
  v.array(
    v.tuple([v.union([v.string(), v.number()]), v.array(v.nullable(v.union([v.string(), v.number()])))]),
  ),
]);

/** Throws for JSON of another shape: a frame of a version that this one does not know. */
export function decodePayload(json: Uint8Array): Payload {
  const parsed: unknown = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString());
  const items = v.parse(payloadSchema, parsed);
  if (!Array.isArray(items)) return { type: 'seal', window: items.seal };
  const statements = items.map(([sql, parameters]) => {
    const text = typeof sql === 'string' ? sql : items[sql]?.[0];
    if (typeof text !== 'string') throw new Error('a statement refers to one that is not there');
    return { sql: text, parameters };
  });
  return { type: 'statements', statements };
}

/** The bytes of a frame and its CRC. `json` is what encodePayload gave. */
export function encodeFrame(header: FrameHeader, json: string): { bytes: Buffer; crc: number } {
  const rest = `${header.seq} ${formatCrc(header.previous)} ${header.durable} ${header.transaction} ${json}`;
  const length = Buffer.byteLength(rest);
  const bytes = Buffer.allocUnsafe(length + 11);
  bytes[0] = newline;
  bytes[9] = space;
  bytes.write(rest, 10);
  bytes[length + 10] = newline;
  const crc = crc32(bytes.subarray(10, length + 10));
  bytes.write(formatCrc(crc), 1, 'latin1');
  return { bytes, crc };
}

/** Reads one line (without its newlines). Null: not a whole frame, be it torn, flipped or cut short. */
export function decodeLine(line: Buffer): Frame | null {
  const match = headerPattern.exec(line.toString('latin1', 0, longestHeader));
  if (match === null) return null;
  const [header = '', crcText = '', seq, previous = '', durable, transaction = ''] = match;
  const crc = Number.parseInt(crcText, 16);
  if (crc32(line.subarray(9)) !== crc) return null;
  return {
    crc,
    seq: Number(seq),
    previous: Number.parseInt(previous, 16),
    durable: Number(durable),
    transaction,
    json: line.subarray(header.length),
  };
}
