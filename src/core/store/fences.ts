/**
 * A fence says that a place was reset: no chat whose last activity is older may come back there. It outlives the row that
 * set it, and it compares journal numbers, because clocks can be set back.
 */
import * as v from 'valibot';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

/** Fences the place at this transaction. */
export function setFence(writer: WriteTransaction, origin: string): void {
  writer.run('INSERT OR REPLACE INTO fences(origin, seq) VALUES(?, ?)', [origin, writer.seq]);
}

/** Null: never reset. */
export function getFence(reader: ReadTransaction, origin: string): number | null {
  const row = reader.get('SELECT seq FROM fences WHERE origin = ?', [origin]);
  return row === undefined ? null : v.parse(v.number(), row['seq']);
}

export function isFenced(reader: ReadTransaction, origin: string, lastActivitySeq: number): boolean {
  const fence = getFence(reader, origin);
  return fence !== null && lastActivitySeq < fence;
}
