/** Durable pointers from a place (a panel, a workspace) to the session it shows. */
import * as v from 'valibot';
import type { ReadTransaction, Row, Value, WriteTransaction } from './transaction.ts';

export const routeSchema = v.object({
  /** `panel:<ulid>` or `workspace:<key>`. */
  key: v.string(),
  sessionId: v.string(),
  /** The place across restarts; null: unknown. */
  origin: v.nullable(v.string()),
  workspaceUri: v.nullable(v.string()),
  viewColumn: v.nullable(v.number()),
  title: v.string(),
  modelOverride: v.nullable(v.string()),
  resumePending: v.boolean(),
  /** Unix times in milliseconds. */
  updatedAt: v.number(),
  closedAt: v.nullable(v.number()),
});
export type Route = Readonly<v.InferOutput<typeof routeSchema>>;

const columns =
  'key, session_id, origin, workspace_uri, view_column, title, model_override, resume_pending, updated_at, closed_at';

function toRoute(row: Row): Route {
  return v.parse(routeSchema, {
    key: row['key'],
    sessionId: row['session_id'],
    origin: row['origin'],
    workspaceUri: row['workspace_uri'],
    viewColumn: row['view_column'],
    title: row['title'],
    modelOverride: row['model_override'],
    resumePending: row['resume_pending'] === 1,
    updatedAt: row['updated_at'],
    closedAt: row['closed_at'],
  });
}

export function saveRoute(writer: WriteTransaction, route: Route): void {
  writer.run(
    'INSERT OR REPLACE INTO routes(key, session_id, origin, workspace_uri, view_column, title, model_override, resume_pending, updated_at, closed_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    [
      route.key,
      route.sessionId,
      route.origin,
      route.workspaceUri,
      route.viewColumn,
      route.title,
      route.modelOverride,
      Number(route.resumePending),
      route.updatedAt,
      route.closedAt,
    ],
  );
  rememberShown(writer, route.key, route.sessionId);
}

/** Null: there is none. */
export function getRoute(reader: ReadTransaction, key: string): Route | null {
  const row = reader.get(`SELECT ${columns} FROM routes WHERE key = ?`, [key]);
  return row === undefined ? null : toRoute(row);
}

export interface RouteFilter {
  readonly sessionId?: string;
  readonly workspaceUri?: string | null;
  readonly origin?: string;
}

/** By key. */
export function listRoutes(reader: ReadTransaction, filter: RouteFilter = {}): Route[] {
  const conditions = ['1'];
  const parameters: Value[] = [];
  const wanted: [string, Value | undefined][] = [
    ['session_id', filter.sessionId],
    ['workspace_uri', filter.workspaceUri],
    ['origin', filter.origin],
  ];
  for (const [column, value] of wanted) {
    if (value === undefined) continue;
    conditions.push(`${column} IS ?`);
    parameters.push(value);
  }
  return reader
    .all(`SELECT ${columns} FROM routes WHERE ${conditions.join(' AND ')} ORDER BY key`, parameters)
    .map(toRoute);
}

/** Repoints a route if it still names `from`. False: somebody else was faster. */
export function repointRoute(
  writer: WriteTransaction,
  key: string,
  from: string,
  to: string,
  updatedAt: number,
): boolean {
  const row = writer.get('SELECT session_id FROM routes WHERE key = ?', [key]);
  if (row?.['session_id'] !== from) return false;
  writer.run('UPDATE routes SET session_id = ?, updated_at = ? WHERE key = ?', [to, updatedAt, key]);
  rememberShown(writer, key, to);
  return true;
}

export function deleteRoute(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM routes WHERE key = ?', [key]);
}

/** Whether some panel's route ever named the session, also one that is gone: such a row is never ended by cleanup. */
export function wasShownByPanel(reader: ReadTransaction, sessionId: string): boolean {
  const row = reader.get('SELECT shown_by_panel FROM sessions WHERE id = ?', [sessionId]);
  return row?.['shown_by_panel'] === 1;
}

function rememberShown(writer: WriteTransaction, key: string, sessionId: string): void {
  const isNews = key.startsWith('panel:') && !wasShownByPanel(writer, sessionId);
  if (isNews) writer.run('UPDATE sessions SET shown_by_panel = 1 WHERE id = ?', [sessionId]);
}
