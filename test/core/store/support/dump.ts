/** Everything the store holds, to show that something changed nothing. */
import * as v from 'valibot';
import type { Store } from '../../../../src/core/store/store.ts';
import type { Row } from '../../../../src/core/store/transaction.ts';

/** The rows of every table, each sorted by its text. */
export function dumpTables(store: Store): Record<string, Row[]> {
  return store.read((reader) => {
    const tables = reader
      .all(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
      .map((row) => v.parse(v.string(), row['name']));
    const sorted = (rows: Row[]): Row[] =>
      rows.sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
    return Object.fromEntries(tables.map((name) => [name, sorted(reader.all(`SELECT * FROM ${name}`))]));
  });
}
