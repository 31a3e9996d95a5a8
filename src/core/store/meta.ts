/** Facts about the store itself, as text: `schema_version`, `min_reader`, `min_writer`, and in a snapshot where it was taken. */
import * as v from 'valibot';
import type { RowReader, RowWriter } from './transaction.ts';

/** Null: never set. */
export function getMeta(reader: RowReader, key: string): string | null {
  const row = reader.get('SELECT value FROM meta WHERE key = ?', [key]);
  return row === undefined ? null : v.parse(v.string(), row['value']);
}

/** Every fact whose key begins so, ordered by key. */
export function listMeta(reader: RowReader, prefix: string): { key: string; value: string }[] {
  const rows = reader.all('SELECT key, value FROM meta WHERE key >= ? AND key < ? ORDER BY key', [
    prefix,
    `${prefix}\u{10ffff}`,
  ]);
  return rows.map((row) => v.parse(factSchema, row));
}

const factSchema = v.object({ key: v.string(), value: v.string() });

export function setMeta(writer: RowWriter, key: string, value: string): void {
  writer.run('INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)', [key, value]);
}
