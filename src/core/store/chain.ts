/**
 * Which frames count. Every reader decides that alone, front to back, and all decide alike: a frame counts if and only if
 * its CRC is right, its `seq` is the next one and its `previous` is the CRC of the last frame that counted.
 */
import { decodeLine, type Frame } from './frame.ts';

/** Where a reader stands: the last frame that counted. */
export interface ChainPosition {
  readonly seq: number;
  readonly crc: number;
}

/**
 * `counts`: the next frame · `skipped`: a frame that lost its race, or what a torn write left ·
 * `gap`: proof of damage: a frame that its writer knew to be durable is missing before this one ·
 * `fork`: proof of damage: its writer knew another frame of the last number to be durable. (Without that knowledge it is what
 * a power cut leaves: the predecessor was lost, and one that had lost its race counts in its place.)
 */
export type Verdict = 'counts' | 'skipped' | 'gap' | 'fork';

export function judge(position: ChainPosition, frame: Frame): Verdict {
  if (frame.seq === position.seq + 1 && frame.previous === position.crc) return 'counts';
  if (frame.durable > position.seq) return 'gap';
  if (frame.seq === position.seq + 1 && frame.durable === position.seq) return 'fork';
  return 'skipped';
}

export interface Line {
  readonly frame: Frame | null;
  /** Offset in the buffer just behind the line (and its newline). */
  readonly end: number;
}

const newline = 0x0a;

/**
 * The lines of a piece of journal, empty ones left out. The last one may lack its newline: it is given only if it is a
 * whole frame (the next byte in the file will be a newline, whoever writes it); otherwise it is a write in progress, to be
 * read again later.
 */
export function* splitLines(bytes: Buffer): Generator<Line> {
  let start = 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    if (end > start) {
      const frame = decodeLine(bytes.subarray(start, end));
      if (found === -1 && frame === null) return;
      yield { frame, end: Math.min(end + 1, bytes.length) };
    }
    start = end + 1;
  }
}
