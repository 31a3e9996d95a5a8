/**
 * The mark: a witness outside the journal of how far it was synced. A journal that ends before it was cut. One that cannot
 * be read says nothing (it may be a torn replacement of its own), and it is never ahead of the disk.
 */
import * as v from 'valibot';
import { systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, markName } from './folder.ts';
import { crc32, formatCrc } from './frame.ts';

const markSchema = v.object({
  generation: v.number(),
  seq: v.number(),
  crc: v.number(),
  /** Bytes of the journal up to that frame's end. */
  length: v.number(),
});
export type Mark = Readonly<v.InferOutput<typeof markSchema>>;

/** Null: there is none, or it is unreadable. */
export function readMark(files: FileLayer, folder: string): Mark | null {
  let text: string;
  try {
    text = Buffer.from(files.readFile(inFolder(folder, markName))).toString();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
  const json = text.slice(9);
  if (text.slice(0, 8) !== formatCrc(crc32(Buffer.from(json)))) return null;
  const parsed = v.safeParse(markSchema, JSON.parse(json));
  return parsed.success ? parsed.output : null;
}

/** Replaces the mark unless it is further already. `suffix` keeps windows from writing the same temporary file. */
export async function writeMark(files: FileLayer, folder: string, mark: Mark, suffix: string): Promise<void> {
  const known = readMark(files, folder);
  if (known !== null && (known.seq > mark.seq || (known.seq === mark.seq && known.length >= mark.length)))
    return;
  const json = JSON.stringify(mark);
  const temporary = inFolder(folder, `${markName}.${suffix}.tmp`);
  files.remove(temporary);
  const descriptor = files.open(temporary, 'createNew');
  try {
    files.append(descriptor, Buffer.from(`${formatCrc(crc32(Buffer.from(json)))} ${json}`));
    await files.sync(descriptor);
  } finally {
    files.close(descriptor);
  }
  files.rename(temporary, inFolder(folder, markName));
}
