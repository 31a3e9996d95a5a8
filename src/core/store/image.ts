/** Reading snapshot files, which are large: in pieces, and into memory that the database can go on with. */
import type { FileLayer } from './fileLayer.ts';
import { crc32 } from './frame.ts';

/** Bytes at a time: small enough that the checksum finds them in the processor's cache. */
const pieceSize = 1 << 20;
/**
 * Room behind an image into which the database grows without being copied: as much again, but this at most (bytes). The
 * system gives it only once it is used.
 */
const mostRoom = 64 << 20;

/**
 * A SQLite file in memory with room behind it. sql.js keeps a database's file in what `slice` of the given array returns, so
 * this one gives itself, room included: no copy at the open, none at every growth, and what is written is seen in `whole`.
 */
export class RoomyImage extends Uint8Array<ArrayBuffer> {
  get whole(): Uint8Array {
    return new Uint8Array(this.buffer);
  }

  override slice(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer);
  }
}

/** The file and its CRC-32. Throws what node:fs throws. */
export function readImage(files: FileLayer, path: string): { image: RoomyImage; crc: number } {
  const descriptor = files.open(path, 'read');
  try {
    const { size } = files.status(descriptor);
    const buffer = new ArrayBuffer(size + Math.min(size, mostRoom));
    const { crc, length } = readPieces(files, descriptor, (position) => {
      return new Uint8Array(buffer, position, Math.min(pieceSize, size - position));
    });
    return { image: new RoomyImage(buffer, 0, length), crc };
  } finally {
    files.close(descriptor);
  }
}

/** CRC-32 of a file, which is never in memory as a whole. Throws what node:fs throws. */
export function checksumOf(files: FileLayer, path: string): number {
  const descriptor = files.open(path, 'read');
  try {
    const piece = new Uint8Array(pieceSize);
    return readPieces(files, descriptor, () => piece).crc;
  } finally {
    files.close(descriptor);
  }
}

function readPieces(
  files: FileLayer,
  descriptor: number,
  targetAt: (position: number) => Uint8Array,
): { crc: number; length: number } {
  let crc = 0;
  let length = 0;
  for (;;) {
    const target = targetAt(length);
    const count = target.length === 0 ? 0 : files.read(descriptor, target, length);
    if (count === 0) return { crc, length };
    crc = crc32(target.subarray(0, count), crc);
    length += count;
  }
}
