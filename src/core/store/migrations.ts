/**
 * The schema, as an append-only list: a released entry is never edited, the next one is added behind it. A migration is a
 * frame like any other, so every window makes it at the same point of the journal.
 */
import * as v from 'valibot';
import { getMeta, setMeta } from './meta.ts';
import { rowWriterOf, type Database } from './openDatabase.ts';
import type { RowReader, RowWriter } from './transaction.ts';

interface Migration {
  readonly version: number;
  /** The lowest schema version a window must know to read, and to write, what this migration leaves behind. */
  readonly minReader: number;
  readonly minWriter: number;
  readonly statements: readonly string[];
}

const migrations: readonly Migration[] = [
  {
    version: 1,
    minReader: 1,
    minWriter: 1,
    statements: [
      `CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)`,
      `CREATE TABLE sessions(
        id TEXT PRIMARY KEY NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL, title_source TEXT NOT NULL,
        workspace_uri TEXT, workspace_name TEXT, model_id TEXT, parent_id TEXT, edge TEXT, branched_after INTEGER,
        created_at INTEGER NOT NULL, last_activity_at INTEGER NOT NULL, last_activity_seq INTEGER NOT NULL,
        ended_at INTEGER, end_reason TEXT, pinned INTEGER NOT NULL, message_count INTEGER NOT NULL,
        preview TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        shown_by_panel INTEGER NOT NULL DEFAULT 0)`,
      `CREATE INDEX sessions_by_activity ON sessions(last_activity_at, id)`,
      `CREATE INDEX sessions_archived ON sessions(last_activity_at, id)
        WHERE end_reason IN ('archived', 'session_reset')`,
      `CREATE INDEX sessions_by_workspace ON sessions(workspace_uri, last_activity_at, id)`,
      `CREATE INDEX sessions_by_parent ON sessions(parent_id) WHERE parent_id IS NOT NULL`,
      `CREATE TABLE messages(
        id TEXT PRIMARY KEY NOT NULL, session_id TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
        status TEXT NOT NULL, blob TEXT, tool_calls TEXT, tool_call_id TEXT, tool_name TEXT, problem TEXT,
        active INTEGER NOT NULL, copy_of TEXT, created_at INTEGER NOT NULL, finished_at INTEGER, model_id TEXT,
        usage TEXT, reasoning TEXT NOT NULL, content TEXT NOT NULL)`,
      `CREATE UNIQUE INDEX messages_by_session ON messages(session_id, seq)`,
      `CREATE INDEX messages_by_original ON messages(copy_of) WHERE copy_of IS NOT NULL`,
      `CREATE INDEX messages_streaming ON messages(status) WHERE status = 'streaming'`,
      `CREATE INDEX messages_to_tidy ON messages(created_at) WHERE status <> 'streaming'
        AND octet_length(content) + octet_length(reasoning) + coalesce(octet_length(tool_calls), 0) > 4096`,
      `CREATE TABLE routes(
        key TEXT PRIMARY KEY NOT NULL, session_id TEXT NOT NULL, origin TEXT, workspace_uri TEXT,
        view_column INTEGER, title TEXT NOT NULL, model_override TEXT, resume_pending INTEGER NOT NULL,
        updated_at INTEGER NOT NULL, closed_at INTEGER, window_id TEXT)`,
      `CREATE INDEX routes_by_session ON routes(session_id)`,
      `CREATE TABLE leases(
        session_id TEXT PRIMARY KEY NOT NULL, runtime_id TEXT NOT NULL, window_id TEXT NOT NULL,
        epoch INTEGER NOT NULL, acquired_at INTEGER NOT NULL, is_held INTEGER NOT NULL)`,
      `CREATE TABLE fences(origin TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT NULL)`,
      `CREATE TABLE drafts(
        key TEXT PRIMARY KEY NOT NULL, session_id TEXT, blob TEXT, text TEXT NOT NULL, caret INTEGER NOT NULL,
        scroll REAL, edited_at INTEGER NOT NULL)`,
      `CREATE INDEX drafts_by_session ON drafts(session_id) WHERE session_id IS NOT NULL`,
      `CREATE TABLE memories(
        id TEXT PRIMARY KEY NOT NULL, workspace_uri TEXT, text TEXT NOT NULL, source_session_id TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)`,
    ],
  },
];

/** The newest schema this code knows. */
export const schemaVersion = migrations.length;

const numberText = v.pipe(v.string(), v.transform(Number), v.number());

/** 0 for a database without tables. */
export function readSchemaVersion(reader: RowReader): number {
  const hasMeta = reader.get(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'`);
  return hasMeta === undefined ? 0 : v.parse(numberText, getMeta(reader, 'schema_version'));
}

export interface Requirements {
  readonly minReader: number;
  readonly minWriter: number;
}

export function readRequirements(reader: RowReader): Requirements {
  if (readSchemaVersion(reader) === 0) return { minReader: 0, minWriter: 0 };
  return {
    minReader: v.parse(numberText, getMeta(reader, 'min_reader')),
    minWriter: v.parse(numberText, getMeta(reader, 'min_writer')),
  };
}

/** Brings the schema up to `target`; does nothing if it is there already, so that several windows may try at once. */
export function migrate(writer: RowWriter, target = schemaVersion): void {
  const current = readSchemaVersion(writer);
  for (const migration of migrations.slice(current, target)) {
    for (const statement of migration.statements) writer.run(statement.replace(/\s+/g, ' '));
    setMeta(writer, 'schema_version', String(migration.version));
    setMeta(writer, 'min_reader', String(migration.minReader));
    setMeta(writer, 'min_writer', String(migration.minWriter));
  }
}

/** As migrate, of a copy of a state in memory that no journal knows of. */
export function migrateDatabase(database: Database): void {
  migrate(rowWriterOf(database));
}
