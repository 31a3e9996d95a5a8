/**
 * The SQLite database in memory that answers queries. It is never the durable copy: the journal is.
 *
 * SQL has no clock and no dice in a frame: every window replays the same statements and must arrive at the same state, so
 * statements that name such functions are refused.
 */
import initSqlJs from 'sql.js';
import type { Database as SqliteDatabase, SqlJsStatic, Statement as SqliteStatement } from 'sql.js';
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
const mostStatements = 256;
/** UTF-16 units above which a text is given to SQLite as bytes. */
const longText = 500;
/** Of `PRAGMA user_version` in a SQLite file. */
const userVersionOffset = 60;

/** A JavaScript string may hold half of a surrogate pair; UTF-8 cannot, and SQLite would store garbage. */
const loneSurrogate = /\p{Surrogate}/gu;
/** Any half, of a pair or not: quick to rule out. */
const surrogate = /[\ud800-\udfff]/;

/** The value as the journal and the database both keep it. Throws StoreValueError. */
export function normalizeValue(value: Value): Value {
  if (typeof value === 'string') {
    return surrogate.test(value) ? value.replace(loneSurrogate, '\ufffd') : value;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new StoreValueError(`The number ${value} cannot be stored.`);
  }
  return value;
}

export class Database implements RowReader {
  readonly #sqlite: SqliteDatabase;
  /** What it was opened from; null: nothing, or not known to hold its file. */
  readonly #opened: RoomyImage | null;
  /** Prepared statements by what they may be used for: a reader must not get a writer's. */
  readonly #statements = {
    read: new Map<string, SqliteStatement>(),
    write: new Map<string, SqliteStatement>(),
    control: new Map<string, SqliteStatement>(),
  };

  /** `image`: a SQLite file, or null for an empty database. Throws what sql.js throws for bytes that are none. */
  constructor(engine: Engine, image: Uint8Array | null) {
    this.#sqlite = new engine.Database(image);
    this.#opened = image instanceof RoomyImage ? image : null;
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
  run(statement: Statement): void {
    const { sql, parameters } = withTextsAsBytes(statement);
    const prepared = this.#prepare(sql, 'write');
    try {
      prepared.bind(parameters);
      prepared.step();
    } finally {
      prepared.reset();
    }
  }

  begin(): void {
    this.#control('BEGIN');
  }

  commit(): void {
    this.#control('COMMIT');
  }

  rollback(): void {
    this.#control('ROLLBACK');
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
    this.#free();
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

  #free(): void {
    for (const statements of Object.values(this.#statements)) {
      for (const statement of statements.values()) statement.free();
      statements.clear();
    }
  }

  #query(sql: string, parameters: readonly Value[], use: (row: Row) => boolean): void {
    const statement = this.#prepare(sql, 'read');
    try {
      statement.bind(parameters.map(normalizeValue));
      let names: string[] | null = null;
      while (statement.step()) {
        names ??= statement.getColumnNames();
        if (!use(toRow(names, statement.get()))) break;
      }
    } finally {
      statement.reset();
    }
  }

  #control(sql: string): void {
    const statement = this.#prepare(sql, 'control');
    try {
      statement.step();
    } finally {
      statement.reset();
    }
  }

  #prepare(sql: string, kind: 'read' | 'write' | 'control'): SqliteStatement {
    const statements = this.#statements[kind];
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (kind === 'read') checkReadStatement(sql);
    if (kind === 'write') checkWriteStatement(sql);
    if (statements.size >= mostStatements) forgetOldest(statements);
    const statement = this.#sqlite.prepare(withParametersAsExpressions(sql));
    statements.set(sql, statement);
    return statement;
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

/**
 * Long texts are given as their UTF-8 bytes, cast back to text by SQLite: sql.js encodes strings character by character, which
 * was a third of a replay. Nothing else is changed, and the journal has the statement as it was.
 */
function withTextsAsBytes({ sql, parameters }: Statement): {
  sql: string;
  parameters: (Value | Uint8Array)[];
} {
  if (!parameters.some(isLongText)) return { sql, parameters: [...parameters] };
  const pieces = sql.split('?');
  // A question mark of another kind, in a literal say: left alone.
  if (pieces.length !== parameters.length + 1) return { sql, parameters: [...parameters] };
  const places = parameters.map((value) => (isLongText(value) ? 'CAST(? AS TEXT)' : '?'));
  return {
    sql: pieces.map((piece, index) => piece + (places[index] ?? '')).join(''),
    parameters: parameters.map((value) => (isLongText(value) ? Buffer.from(value) : value)),
  };
}

function isLongText(value: Value): value is string {
  return typeof value === 'string' && value.length > longText;
}

/**
 * `+?` for `?`, which means the same. A bare parameter that SQLite looked at while it planned (an ORDER BY is enough) makes it
 * compile the statement anew after every bind, lest the plan depend on the value: half of the time of a commit.
 */
function withParametersAsExpressions(sql: string): string {
  return sql.replace(/'[^']*'|\?/g, (match) => (match === '?' ? '+?' : match));
}

function forgetOldest(statements: Map<string, SqliteStatement>): void {
  for (const [sql, statement] of statements) {
    statement.free();
    statements.delete(sql);
    return;
  }
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
