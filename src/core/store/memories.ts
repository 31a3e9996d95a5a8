/** What the assistant was told to remember, for one workspace or everywhere. */
import * as v from 'valibot';
import type { ReadTransaction, Row, WriteTransaction } from './transaction.ts';

export const memorySchema = v.object({
  id: v.string(),
  /** Null: everywhere. */
  workspaceUri: v.nullable(v.string()),
  text: v.string(),
  /** The chat it came from; null: written by hand. */
  sourceSessionId: v.nullable(v.string()),
  /** Unix times in milliseconds. */
  createdAt: v.number(),
  updatedAt: v.number(),
});
export type Memory = Readonly<v.InferOutput<typeof memorySchema>>;

function toMemory(row: Row): Memory {
  return v.parse(memorySchema, {
    id: row['id'],
    workspaceUri: row['workspace_uri'],
    text: row['text'],
    sourceSessionId: row['source_session_id'],
    createdAt: row['created_at'],
    updatedAt: row['updated_at'],
  });
}

export function saveMemory(writer: WriteTransaction, memory: Memory): void {
  writer.run(
    'INSERT OR REPLACE INTO memories(id, workspace_uri, text, source_session_id, created_at, updated_at) VALUES(?, ?, ?, ?, ?, ?)',
    [memory.id, memory.workspaceUri, memory.text, memory.sourceSessionId, memory.createdAt, memory.updatedAt],
  );
}

/** Null: there is none. */
export function getMemory(reader: ReadTransaction, id: string): Memory | null {
  const row = reader.get(
    'SELECT id, workspace_uri, text, source_session_id, created_at, updated_at FROM memories WHERE id = ?',
    [id],
  );
  return row === undefined ? null : toMemory(row);
}

/** Those that hold everywhere and those of the workspace, oldest first. */
export function listMemories(reader: ReadTransaction, workspaceUri: string | null): Memory[] {
  return reader
    .all(
      'SELECT id, workspace_uri, text, source_session_id, created_at, updated_at FROM memories WHERE workspace_uri IS NULL OR workspace_uri = ? ORDER BY created_at, id',
      [workspaceUri],
    )
    .map(toMemory);
}

export function deleteMemory(writer: WriteTransaction, id: string): void {
  writer.run('DELETE FROM memories WHERE id = ?', [id]);
}
