/**
 * The peer: Node's own SQLite with a write-ahead log and `synchronous=FULL`, which is as durable as our store. It runs the same
 * functions on the same schema, so what differs is how a transaction becomes durable.
 */
import * as path from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { migrate } from '../../src/core/store/migrations.ts';
import type { WriteTransaction } from '../../src/core/store/transaction.ts';

export class NativeStore {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  #seq = 0;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=60000');
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#rollback = database.prepare('ROLLBACK');
  }

  /** Rejects where this Node has no SQLite. */
  static async open(folder: string): Promise<NativeStore> {
    const sqlite = await import('node:sqlite');
    const store = new NativeStore(new sqlite.DatabaseSync(path.join(folder, 'native.db')));
    store.write(migrate);
    return store;
  }

  /** Durable when it returns. */
  write<T>(change: (writer: WriteTransaction) => T): T {
    this.#begin.run();
    try {
      this.#seq += 1;
      const value = change({
        seq: this.#seq,
        room: Number.POSITIVE_INFINITY,
        keepBlob: refuseBlobs,
        readBlob: refuseBlobs,
        all: (sql, parameters = []) => this.#prepare(sql).all(...parameters),
        get: (sql, parameters = []) => this.#prepare(sql).get(...parameters),
        run: (sql, parameters = []) => this.#prepare(sql).run(...parameters),
      });
      this.#commit.run();
      return value;
    } catch (error) {
      this.#rollback.run();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function refuseBlobs(): never {
  throw new Error('there is always room in a row here');
}
