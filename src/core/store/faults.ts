/** What a salvage could not save, kept in the store until the user has seen it. */
import * as v from 'valibot';
import { listMeta } from './meta.ts';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

export const faultPrefix = 'fault:';

const faultSchema = v.object({
  /** Unix time in milliseconds. */
  at: v.number(),
  /** Changes that are lost, as ranges of journal numbers. */
  missing: v.array(v.tuple([v.number(), v.number()])),
  /** Changes that were readable but built on lost ones. */
  failed: v.number(),
  applied: v.number(),
  /** Files that were moved into the folder `damaged`. */
  aside: v.array(v.string()),
});
export type Fault = Readonly<v.InferOutput<typeof faultSchema>> & { readonly key: string };

/** Oldest first. */
export function listFaults(reader: ReadTransaction): Fault[] {
  return listMeta(reader, faultPrefix).map(({ key, value }) => ({
    key,
    ...v.parse(faultSchema, JSON.parse(value)),
  }));
}

/** What the user is told of it. */
export function describeFault({ missing, failed, applied, aside }: Fault, folder: string): string {
  const lost = missing.reduce((count, [first, last]) => count + last - first + 1, failed);
  const losses =
    lost === 0
      ? 'and none is known to be missing.'
      : `and ${lost} could not, so words may be missing in a chat. If you have a backup, Bring In Chats adds what is missing here.`;
  const kept =
    aside.length === 0 ? '' : ` The damaged files were kept in its folder "damaged": ${aside.join(', ')}.`;
  return `The chat storage in ${folder} was damaged and has been repaired. Of the changes since its last good copy, ${applied} could be read ${losses}${kept}`;
}

/** The user has seen it. */
export function dismissFault(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM meta WHERE key = ?', [key]);
}
