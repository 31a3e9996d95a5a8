/** Facts about the store itself, as text: `schema_version`, `min_reader`, `min_writer`, and in a snapshot where it was taken. */
import * as v from 'valibot';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

/** Null: never set. */
export function getMeta(reader: ReadTransaction, key: string): string | null {
  const row = reader.get('SELECT value FROM meta WHERE key = ?', [key]);
  return row === undefined ? null : v.parse(v.string(), row['value']);
}

export function setMeta(writer: WriteTransaction, key: string, value: string): void {
  writer.run('INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)', [key, value]);
}
