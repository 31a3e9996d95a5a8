/** The part of Node's own SQLite that the benchmarks use. It came with Node 22.5; the types in use here are those of Node 20. */
declare module 'node:sqlite' {
  type Value = string | number | null;

  export class StatementSync {
    all(...parameters: readonly Value[]): Record<string, Value>[];
    get(...parameters: readonly Value[]): Record<string, Value> | undefined;
    run(...parameters: readonly Value[]): void;
  }

  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    close(): void;
  }
}
