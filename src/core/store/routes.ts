/** Durable pointers from a place (a panel, a workspace) to the session it shows. */
import * as v from 'valibot';
import type { ReadTransaction, Row, Value, WriteTransaction } from './transaction.ts';

const routeSchema = v.object({
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
  /** The window that shows the place at the moment; null: none. One that has died claims nothing. */
  windowId: v.nullable(v.string()),
});
export type Route = Readonly<v.InferOutput<typeof routeSchema>>;

/** Whether a window is still there; one of which it is not known counts as alive. */
export type IsWindowAlive = (windowId: string) => boolean;

/** A route with everything absent but what is given. */
export function makeRoute(overrides: Pick<Route, 'key' | 'sessionId' | 'updatedAt'> & Partial<Route>): Route {
  return {
    origin: null,
    workspaceUri: null,
    viewColumn: null,
    title: '',
    modelOverride: null,
    resumePending: false,
    closedAt: null,
    windowId: null,
    ...overrides,
  };
}

/** The route of one panel. */
export function panelRouteKey(panelId: string): string {
  return `panel:${panelId}`;
}

/** The route of "the chat of this workspace"; `workspaceUri`: the workspace file, else the first folder, else null. */
export function workspaceRouteKey(workspaceUri: string | null): string {
  return `workspace:${workspaceUri ?? 'empty'}`;
}

export function isPanelRoute(route: Pick<Route, 'key'>): boolean {
  return route.key.startsWith('panel:');
}

/** Whether a live window shows the place. */
export function isClaimed(route: Pick<Route, 'windowId'>, isWindowAlive: IsWindowAlive): boolean {
  return route.windowId !== null && isWindowAlive(route.windowId);
}

const columns =
  'key, session_id, origin, workspace_uri, view_column, title, model_override, resume_pending, updated_at, closed_at, window_id';

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
    windowId: row['window_id'],
  });
}

export function saveRoute(writer: WriteTransaction, route: Route): void {
  writer.run(
    'INSERT OR REPLACE INTO routes(key, session_id, origin, workspace_uri, view_column, title, model_override, resume_pending, updated_at, closed_at, window_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
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
      route.windowId,
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
  readonly windowId?: string | null;
}

/** By key. */
export function listRoutes(reader: ReadTransaction, filter: RouteFilter = {}): Route[] {
  const conditions = ['1'];
  const parameters: Value[] = [];
  const wanted: [string, Value | undefined][] = [
    ['session_id', filter.sessionId],
    ['workspace_uri', filter.workspaceUri],
    ['origin', filter.origin],
    ['window_id', filter.windowId],
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

export interface Claim {
  readonly key: string;
  /** The window that wants to show the place. */
  readonly windowId: string;
  readonly isWindowAlive: IsWindowAlive;
}

/**
 * Takes the place for a window if no other live window shows it; a closed one is open again. Null: there is no such route, or
 * a live window shows it, which is never robbed. Claiming is no activity: nothing else changes.
 */
export function claimRoute(writer: WriteTransaction, claim: Claim): Route | null {
  const route = getRoute(writer, claim.key);
  if (route === null) return null;
  const isOurs = route.windowId === claim.windowId;
  if (!isOurs && isClaimed(route, claim.isWindowAlive)) return null;
  if (!isOurs || route.closedAt !== null) {
    writer.run('UPDATE routes SET window_id = ?, closed_at = NULL WHERE key = ?', [
      claim.windowId,
      claim.key,
    ]);
  }
  return { ...route, windowId: claim.windowId, closedAt: null };
}

/** The window goes: it shows none of its places any more. */
export function releaseRoutes(writer: WriteTransaction, windowId: string): void {
  for (const { key } of listRoutes(writer, { windowId })) {
    writer.run('UPDATE routes SET window_id = NULL WHERE key = ?', [key]);
  }
}

/** The user closed the panel. The route stays: it still says what the panel showed. */
export function closeRoute(writer: WriteTransaction, key: string, now: number): void {
  const route = getRoute(writer, key);
  if (route === null || route.closedAt !== null) return;
  writer.run('UPDATE routes SET closed_at = ?, window_id = NULL WHERE key = ?', [now, key]);
}

export function deleteRoute(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM routes WHERE key = ?', [key]);
}

/** Whether some panel's route ever named the session, also one that is gone: such a row is never ended by cleanup. */
export function wasShownByPanel(reader: ReadTransaction, sessionId: string): boolean {
  const row = reader.get('SELECT shown_by_panel FROM sessions WHERE id = ?', [sessionId]);
  return row?.['shown_by_panel'] === 1;
}

/** For good: also a continuation, and a row whose routes are gone, stays one that a panel has shown. */
export function setShownByPanel(writer: WriteTransaction, sessionId: string): void {
  if (wasShownByPanel(writer, sessionId)) return;
  writer.run('UPDATE sessions SET shown_by_panel = 1 WHERE id = ?', [sessionId]);
}

function rememberShown(writer: WriteTransaction, key: string, sessionId: string): void {
  if (isPanelRoute({ key })) setShownByPanel(writer, sessionId);
}
