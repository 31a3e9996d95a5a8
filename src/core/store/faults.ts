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

/** The user has seen it. */
export function dismissFault(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM meta WHERE key = ?', [key]);
}
