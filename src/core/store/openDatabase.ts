/**
 * The SQLite database in memory that answers queries. It is never the durable copy: the journal is.
 *
 * SQL has no clock and no dice in a frame: every window replays the same statements and must arrive at the same state, so
 * statements that name such functions are refused.
 */
import initSqlJs from 'sql.js';
import type { Database as SqliteDatabase, SqlJsStatic } from 'sql.js';
import { CompiledStatements } from './compiledStatements.ts';
import { StoreStatementError, StoreValueError } from './errors.ts';
import type { Statement } from './frame.ts';
import { RoomyImage } from './image.ts';
import type { Row, RowReader, RowWriter, Value } from './transaction.ts';

export type Engine = SqlJsStatic;

/** Loads SQLite from the bytes of `sql-wasm.wasm`. Repeated calls in one process share one instance. */
export function loadEngine(wasm: Uint8Array): Promise<Engine> {
  return initSqlJs({ wasmBinary: new Uint8Array(wasm).buffer });
}

const pragmas = [
  'page_size = 16384',
  'locking_mode = EXCLUSIVE', // nobody else sees it: not to be locked and looked at anew for each transaction
  'journal_mode = MEMORY',
  'synchronous = OFF',
  'foreign_keys = OFF',
  // What is deleted is overwritten: a snapshot must hold nothing of it, not even in its free pages.
  'secure_delete = ON',
  'cache_size = -16384',
];

/**
 * Refused by name in statements of frames, wherever they stand in them. (Overriding each function to throw would miss some
 * number of arguments, and cost 5 ms at every open.)
 */
const unrepeatable =
  /\b((random|randomblob|date|time|datetime|julianday|strftime|unixepoch|timediff|changes|total_changes|last_insert_rowid)\s*\(|current_(time|date|timestamp)\b)/i;
const implicitRowid = /\b(rowid|_rowid_|oid)\b/i;

const readStatement = /^\s*(select|with|explain)\b/i;
const changingKeyword = /\b(insert|update|delete|replace|pragma)\b/i;
const writeStatement = /^\s*(insert|update|delete|create|alter|drop)\b/i;
const insertWithColumns = /^\s*insert\s+(or\s+\w+\s+)?into\s+\w+\s*\(/i;
/** Of `PRAGMA user_version` in a SQLite file. */
const userVersionOffset = 60;

/**
 * The value as the journal and the database both keep it: a JavaScript string may hold half of a surrogate pair; UTF-8 cannot,
 * and SQLite would store garbage. Throws StoreValueError.
 */
export function normalizeValue(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new StoreValueError(`The number ${value} cannot be stored.`);
  }
  return value;
}

export class Database implements RowReader {
  readonly #sqlite: SqliteDatabase;
  /** What it was opened from; null: nothing, or not known to hold its file. */
  readonly #opened: RoomyImage | null;
  /** By what they may be used for: a reader must not get a writer's. */
  readonly #statements: Readonly<Record<'read' | 'write' | 'control', CompiledStatements>>;

  /** `image`: a SQLite file, or null for an empty database. Throws what sql.js throws for bytes that are none. */
  constructor(engine: Engine, image: Uint8Array | null) {
    this.#sqlite = new engine.Database(image);
    this.#opened = image instanceof RoomyImage ? image : null;
    this.#statements = {
      read: new CompiledStatements(this.#sqlite, checkReadStatement),
      write: new CompiledStatements(this.#sqlite, checkWriteStatement),
      control: new CompiledStatements(this.#sqlite, () => undefined),
    };
    this.#configure();
  }

  all(sql: string, parameters: readonly Value[] = []): Row[] {
    const rows: Row[] = [];
    this.#query(sql, parameters, (row) => {
      rows.push(row);
      return true;
    });
    return rows;
  }

  get(sql: string, parameters: readonly Value[] = []): Row | undefined {
    let first: Row | undefined;
    this.#query(sql, parameters, (row) => {
      first = row;
      return false;
    });
    return first;
  }

  /** Runs a statement of a frame. Throws StoreStatementError for one that may not be in a frame. */
  run({ sql, parameters }: Statement): void {
    this.#step('write', sql, parameters);
  }

  begin(): void {
    this.#step('control', 'BEGIN');
  }

  commit(): void {
    this.#step('control', 'COMMIT');
  }

  rollback(): void {
    this.#step('control', 'ROLLBACK');
  }

  /**
   * Maintenance only a checkpoint may do (`VACUUM`, `PRAGMA quick_check`); gives the first column of the first row.
   */
  maintain(sql: string): Value {
    const value = this.#sqlite.exec(sql)[0]?.values[0]?.[0] ?? null;
    return value instanceof Uint8Array ? null : value;
  }

  /**
   * The SQLite file; what is changed later may show in it. It may block for as long as copying all of it takes: for workers
   * and for emergencies.
   */
  image(): Uint8Array {
    return this.#ownImage() ?? this.#sqlite.export();
  }

  close(): void {
    for (const statements of Object.values(this.#statements)) statements.free();
    this.#sqlite.close();
  }

  /**
   * The memory it was opened from, if that still holds its file: sql.js moves to another when that is too small or was cut.
   * A number written through SQLite and found there proves it.
   */
  #ownImage(): Uint8Array | null {
    if (this.#opened === null) return null;
    const whole = this.#opened.whole;
    const length = Number(this.maintain('PRAGMA page_count')) * Number(this.maintain('PRAGMA page_size'));
    const next = (Number(this.maintain('PRAGMA user_version')) + 1) % 0x7fffffff;
    this.maintain(`PRAGMA user_version = ${next}`);
    const written = new DataView(whole.buffer).getUint32(userVersionOffset);
    return written === next && length <= whole.length ? whole.subarray(0, length) : null;
  }

  #configure(): void {
    for (const pragma of pragmas) this.#sqlite.run(`PRAGMA ${pragma}`);
  }

  #query(sql: string, parameters: readonly Value[], use: (row: Row) => boolean): void {
    const compiled = this.#statements.read.get(sql);
    const statement = compiled.bind(parameters.map(normalizeValue));
    try {
      while (statement.step()) {
        if (!use(toRow(compiled.names(statement), statement.get()))) break;
      }
    } finally {
      statement.reset();
    }
  }

  #step(kind: 'write' | 'control', sql: string, parameters: readonly Value[] = []): void {
    const statement = this.#statements[kind].get(sql).bind(parameters);
    try {
      statement.step();
    } finally {
      statement.reset();
    }
  }
}

/** Writes to a state in memory that no journal knows of: what it runs is recorded nowhere. */
export function rowWriterOf(database: Database): RowWriter {
  return {
    all: (sql, parameters) => database.all(sql, parameters),
    get: (sql, parameters) => database.get(sql, parameters),
    run: (sql, parameters = []) => database.run({ sql, parameters }),
  };
}

function checkReadStatement(sql: string): void {
  const isWith = /^\s*with\b/i.test(sql);
  if (!readStatement.test(sql) || (isWith && changingKeyword.test(sql))) {
    throw new StoreStatementError('A reader may only select', sql);
  }
}

function checkWriteStatement(sql: string): void {
  if (!writeStatement.test(sql)) throw new StoreStatementError('This statement may not be in a frame', sql);
  if (unrepeatable.test(sql)) {
    throw new StoreStatementError('Functions of time and chance differ from window to window', sql);
  }
  if (implicitRowid.test(sql))
    throw new StoreStatementError('An implicit rowid differs from window to window', sql);
  if (/^\s*insert\b/i.test(sql) && !insertWithColumns.test(sql)) {
    throw new StoreStatementError('The columns of an insert must be named', sql);
  }
}

function toRow(names: readonly string[], values: readonly (Value | Uint8Array)[]): Row {
  const row: Record<string, Value> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? null;
    if (value instanceof Uint8Array) throw new StoreValueError(`The column ${name} holds bytes.`);
    row[name] = value;
  }
  return row;
}
