/**
 * What a transaction may do. A reader cannot write: the two are different types, and the database behind a reader refuses
 * statements that change anything.
 *
 * Every window replays the same statements, so a statement must mean the same everywhere: ids and times are computed
 * before and given as parameters, columns are always named, and nothing rests on an implicit rowid.
 */

/** What a column holds. There are no booleans (0 and 1) and no bytes: large contents live in files (see blobs.ts). */
export type Value = string | number | null;

export type Row = Readonly<Record<string, Value>>;

export interface RowReader {
  /** All rows, in the order the statement asks for. */
  all(sql: string, parameters?: readonly Value[]): Row[];
  /** The first row. */
  get(sql: string, parameters?: readonly Value[]): Row | undefined;
}

export interface ReadTransaction extends RowReader {
  /** The texts that a row keeps in a file. Throws BlobUnreadableError. */
  readBlob(reference: string): string[];
}

export interface RowWriter extends RowReader {
  /**
   * Runs one statement that changes rows (or, in a migration, the schema) and records it for the journal.
   * Throws StoreValueError for a number that is not finite. Lone surrogates in a text become U+FFFD, as in any UTF-8
   * file.
   */
  run(sql: string, parameters?: readonly Value[]): void;
}

export interface NumberedWriter extends RowWriter {
  /**
   * The journal sequence number that this transaction will have once it is committed. Numbers of the journal are
   * compared where clocks could lie. If the commit loses a race the function runs again with a higher one.
   */
  readonly seq: number;
}

export interface WriteTransaction extends ReadTransaction, NumberedWriter {
  /** Bytes of contents for which there is still room in the frame of this transaction; what is larger goes into a blob. */
  readonly room: number;
  /**
   * Puts texts into a file of their own, durable when this returns, and gives the reference for the row to name it by. Throws
   * StoreErrors.
   */
  keepBlob(texts: readonly string[]): string;
}
