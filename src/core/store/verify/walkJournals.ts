/**
 * Reads every frame of every journal from outside, by the rule all windows decide by (chain.ts), and checks that the
 * generations lead from one to the next. It applies nothing and writes nothing.
 *
 * Beside running windows it must not mistake their work for a fault. So the folder is listed first, then the mark is read, then
 * the journals' sizes are taken, newest first: whatever a snapshot, the mark or a newer journal rests on was written before,
 * and is inside the sizes.
 */
import { judge, splitLines, type ChainPosition } from '../chain.ts';
import { systemErrorCode } from '../errors.ts';
import type { FileLayer } from '../fileLayer.ts';
import { inFolder, journalName, type FolderListing } from '../folder.ts';
import { decodePayload, type Frame } from '../frame.ts';
import { Journal } from '../journal.ts';
import type { Mark } from '../mark.ts';

export interface WalkInput {
  readonly files: FileLayer;
  readonly folder: string;
  readonly listing: FolderListing;
  /** Where each generation begins whose snapshot holds. */
  readonly starts: ReadonlyMap<number, ChainPosition>;
  readonly mark: Mark | null;
}

export interface WalkReport {
  readonly faults: readonly string[];
  /** Frames that count. */
  readonly frames: number;
  /** Frames that lost a race, and what torn writes left. */
  readonly skippedFrames: number;
}

/** A file went while it was looked at: a checkpoint ran. Look again. */
export class FolderChangedError extends Error {
  readonly reason = 'folder_changed';
}

interface JournalBytes {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Throws FolderChangedError, and what node:fs throws. */
export function walkJournals(input: WalkInput): WalkReport {
  const journals = readJournals(input);
  const { starts, listing, mark } = input;
  const faults: string[] = [];
  const counts = { frames: 0, skippedFrames: 0 };
  const newestStart = Math.max(1, ...starts.keys());
  const newest = Math.max(newestStart, ...listing.journals);
  // Journals before the oldest snapshot wait to be removed; where their frames would begin is known to nobody.
  const oldest = listing.journals.includes(1) ? 1 : Math.min(newestStart, ...starts.keys());
  let position: ChainPosition | null = null;
  for (let generation = oldest; generation <= newest; generation++) {
    position = startOf(generation, position, starts, faults);
    const journal = journals.get(generation);
    if (journal === undefined) {
      // The state does not need journals that a newer snapshot covers: the one that repaired a loss, for example.
      const isNeeded = position !== null && generation >= newestStart;
      if (isNeeded) faults.push(`${journalName(generation)} is missing.`);
      position = null;
      continue;
    }
    if (position === null) {
      if (hasFrames(journal.bytes)) faults.push(`Nothing leads to the changes in ${journal.name}.`);
      continue;
    }
    const walked = walkJournal(journal, position, mark, faults);
    counts.frames += walked.frames;
    counts.skippedFrames += walked.skippedFrames;
    position = walked.isSealed ? walked.position : null;
    const isOver = !walked.isSealed && !walked.isDamaged && generation < newest;
    if (isOver && starts.has(generation + 1)) faults.push(`${journal.name} ends before its seal.`);
    if (generation === newest || !walked.isSealed) checkMark(walked, journal, generation, mark, faults);
  }
  return { faults, ...counts };
}

/** Where the walk of this generation begins: at its snapshot, else where the one before ended. */
function startOf(
  generation: number,
  arrived: ChainPosition | null,
  starts: ReadonlyMap<number, ChainPosition>,
  faults: string[],
): ChainPosition | null {
  const start = starts.get(generation) ?? null;
  if (start === null) return generation === 1 ? { seq: 0, crc: 0 } : arrived;
  if (arrived !== null && (arrived.seq !== start.seq || arrived.crc !== start.crc)) {
    faults.push(
      `The snapshot of generation ${generation} stands at change ${start.seq}, but the journal before it ends with another change (${arrived.seq}).`,
    );
  }
  return start;
}

interface Walked extends Omit<WalkReport, 'faults'> {
  readonly position: ChainPosition;
  readonly isSealed: boolean;
  readonly isDamaged: boolean;
}

function walkJournal(
  { name, bytes }: JournalBytes,
  start: ChainPosition,
  mark: Mark | null,
  faults: string[],
): Walked {
  let position = start;
  let frames = 0;
  let skippedFrames = 0;
  let isSealed = false;
  for (const { frame } of splitLines(bytes)) {
    const verdict = frame === null || isSealed ? 'skipped' : judge(position, frame);
    if (frame === null || verdict === 'skipped') {
      skippedFrames += 1;
      continue;
    }
    if (verdict !== 'counts') {
      const next = position.seq + 1;
      faults.push(
        verdict === 'gap'
          ? `${name}: change ${next} was saved and cannot be read, found before change ${frame.seq}.`
          : `${name}: there are two different changes ${position.seq}.`,
      );
      return { position, frames, skippedFrames, isSealed, isDamaged: true };
    }
    if (mark?.seq === frame.seq && mark.crc !== frame.crc) {
      faults.push(`${name}: change ${frame.seq} is not the one that was saved.`);
    }
    isSealed = isSeal(frame, name, faults);
    position = { seq: frame.seq, crc: frame.crc };
    frames += 1;
  }
  return { position, frames, skippedFrames, isSealed, isDamaged: false };
}

function isSeal(frame: Frame, name: string, faults: string[]): boolean {
  try {
    return decodePayload(frame.json).type === 'seal';
  } catch (error) {
    faults.push(
      `${name}: change ${frame.seq} has contents that this version does not know: ${String(error)}`,
    );
    return false;
  }
}

function checkMark(
  { position, isDamaged }: Walked,
  journal: JournalBytes,
  generation: number,
  mark: Mark | null,
  faults: string[],
): void {
  if (mark === null || isDamaged || generation < mark.generation || position.seq >= mark.seq) return;
  faults.push(`${journal.name} ends at change ${position.seq}; change ${mark.seq} was saved.`);
}

function hasFrames(bytes: Buffer): boolean {
  for (const { frame } of splitLines(bytes)) if (frame !== null) return true;
  return false;
}

function readJournals({ files, folder, listing }: WalkInput): ReadonlyMap<number, JournalBytes> {
  const opened: Journal[] = [];
  try {
    for (const generation of listing.journals) opened.push(openJournal(files, folder, generation));
    const sizes = new Map<number, number>();
    for (const journal of opened.toReversed()) sizes.set(journal.generation, journal.status().size);
    return new Map(
      opened.map((journal) => {
        const name = journalName(journal.generation);
        // A copy: the journal's own buffer is used again for its next read.
        const bytes = Buffer.from(journal.readNew(sizes.get(journal.generation)));
        return [journal.generation, { name, bytes }];
      }),
    );
  } finally {
    for (const journal of opened) journal.close();
  }
}

function openJournal(files: FileLayer, folder: string, generation: number): Journal {
  try {
    return new Journal(files, folder, generation, 'read');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') {
      throw new FolderChangedError(`${inFolder(folder, journalName(generation))} is gone`);
    }
    throw error;
  }
}
