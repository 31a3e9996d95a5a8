/**
 * The statements of a database, compiled once: each by its text and, because long texts are handed over in another way, by which
 * of its parameters are long.
 */
import type { Database as SqliteDatabase, Statement as SqliteStatement } from 'sql.js';
import type { Value } from './transaction.ts';

const mostStatements = 256;
/** UTF-16 units above which a text is given to SQLite as bytes. */
const longText = 500;
/** The first parameters, of which it is told apart whether they are long: as many as a number has bits. */
const toldApart = 32;

export class CompiledStatements {
  readonly #sqlite: SqliteDatabase;
  /** Throws for a statement that may not be here. */
  readonly #check: (sql: string) => void;
  readonly #known = new Map<string, CompiledStatement>();

  constructor(sqlite: SqliteDatabase, check: (sql: string) => void) {
    this.#sqlite = sqlite;
    this.#check = check;
  }

  /** Throws what the check throws. */
  get(sql: string): CompiledStatement {
    const known = this.#known.get(sql);
    if (known !== undefined) return known;
    this.#check(sql);
    if (this.#known.size >= mostStatements) this.#forgetOldest();
    const statement = new CompiledStatement(this.#sqlite, sql);
    this.#known.set(sql, statement);
    return statement;
  }

  free(): void {
    for (const statement of this.#known.values()) statement.free();
    this.#known.clear();
  }

  #forgetOldest(): void {
    for (const [sql, statement] of this.#known) {
      statement.free();
      this.#known.delete(sql);
      return;
    }
  }
}

export class CompiledStatement {
  readonly #sqlite: SqliteDatabase;
  readonly #sql: string;
  readonly #variants = new Map<number, SqliteStatement>();
  #names: readonly string[] | null = null;

  constructor(sqlite: SqliteDatabase, sql: string) {
    this.#sqlite = sqlite;
    this.#sql = sql;
  }

  /** With the parameters, ready for its first step; whoever takes steps resets it. Throws what sql.js throws. */
  bind(parameters: readonly Value[]): SqliteStatement {
    const long = longOnes(parameters);
    const statement = this.#variant(long);
    statement.bind(
      parameters.map((value, index) =>
        typeof value === 'string' && isAmong(long, index) ? Buffer.from(value) : value,
      ),
    );
    return statement;
  }

  /** The columns of a row: of a statement that has just given one. */
  names(statement: SqliteStatement): readonly string[] {
    this.#names ??= statement.getColumnNames();
    return this.#names;
  }

  free(): void {
    for (const statement of this.#variants.values()) statement.free();
    this.#variants.clear();
  }

  #variant(long: number): SqliteStatement {
    const known = this.#variants.get(long);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare(withParametersAsExpressions(this.#sql, long));
    this.#variants.set(long, statement);
    return statement;
  }
}

/** A bit for each parameter that is a long text. */
function longOnes(parameters: readonly Value[]): number {
  let long = 0;
  for (let index = 0; index < Math.min(parameters.length, toldApart); index++) {
    const value = parameters[index];
    if (typeof value === 'string' && value.length > longText) long |= 1 << index;
  }
  return long;
}

function isAmong(long: number, index: number): boolean {
  return index < toldApart && (long & (1 << index)) !== 0;
}

/**
 * What stands for a parameter, which means the same in the end:
 *
 * `CAST(? AS TEXT)` for a long text, which is given as its UTF-8 bytes: sql.js encodes strings character by character, which was a
 * third of a replay.
 *
 * `+?` for all else: a bare parameter that SQLite looked at while it planned (an ORDER BY is enough) makes it compile the statement
 * anew after every bind, lest the plan depend on the value. That was half of the time of a commit.
 */
function withParametersAsExpressions(sql: string, long: number): string {
  let index = 0;
  return sql.replace(/'[^']*'|\?/g, (match) => {
    if (match !== '?') return match;
    return isAmong(long, index++) ? 'CAST(? AS TEXT)' : '+?';
  });
}
